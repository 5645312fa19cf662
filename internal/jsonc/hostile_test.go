package jsonc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestLargeObjects holds that large objects are merged through an index, and that
// it is never in the way of what others do to the members.
func TestLargeObjects(t *testing.T) {
	var text strings.Builder
	text.WriteString("{")
	for i := range 1000 {
		fmt.Fprintf(&text, `"k%d":%d,`, i, i)
	}
	read, err := Parse("f", []byte(text.String()+"}"))
	if err != nil {
		t.Fatal(err)
	}
	made := NewObject()
	for _, m := range read.Members {
		made.Put(m)
	}
	for name, v := range map[string]*Value{"read": read, "made": made, "copied": read.Clone()} {
		if !v.index.fits(v.Members) {
			t.Errorf("%s: its keys are looked for one by one", name)
		}
	}
}

// TestObjectsAgree compares large objects with a plain list of their keys.
func TestObjectsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, want := NewObject(), []string{}
		at := func(key string) int {
			for i, k := range want {
				if k == key {
					return i
				}
			}
			return -1
		}
		for i := range rapid.IntRange(0, 2*indexFrom).Draw(t, "at first") {
			v.Set(fmt.Sprint(i), NewBool(true))
			want = append(want, fmt.Sprint(i))
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := fmt.Sprint(rapid.IntRange(0, 80).Draw(t, "key"))
			i := at(key)
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				if v.Set(key, NewBool(true)); i < 0 {
					want = append(want, key)
				}
			case 2:
				if v.Delete(key); i >= 0 {
					want = append(want[:i:i], want[i+1:]...)
				}
			case 3:
				if to := key + "x"; i >= 0 && at(to) < 0 {
					v.Rename(key, to)
					want[i] = to
				}
			case 4: // others cut the members short
				n := len(want) / 2
				v.Members, want = v.Members[:n:n], want[:n:n]
			}
			got := []string{}
			for i, m := range v.Members {
				if got = append(got, m.Key); v.find(m.Key) != i {
					t.Fatalf("%q is found at %d, not %d", m.Key, v.find(m.Key), i)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("keys (-want +got):\n%s", diff)
			}
			if v.Get("none") != nil || at(key) < 0 && v.Get(key) != nil {
				t.Fatal("a key is found that is not there")
			}
		}
	})
}

// TestExpandBounds has a text that stands for more than may be read.
func TestExpandBounds(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	for name, text := range map[string]string{
		"in a string": `["` + strings.Repeat("{file:f}", 1000) + `"]`,
		"bare":        `[` + strings.Repeat("{file:f},", 1000) + `]`,
	} {
		calls := 0
		_, err := NewSource("f", []byte(text)).Expand([]string{"file"}, func(string, string, Pos) (string, error) {
			calls++
			return big, nil
		})
		if err == nil || !strings.Contains(err.Error(), "placeholders stand for") || calls > 10 {
			t.Errorf("%s: %d files are read, %v", name, calls, err)
		}
	}
}

// TestUnclosedPlaceholders looks for the ends of a million placeholders that have
// none, reading the text once.
func TestUnclosedPlaceholders(t *testing.T) {
	text := []byte(`"` + strings.Repeat("{env:", 1_000_000) + `"`)
	x := expander{s: NewSource("f", text), names: []string{"env"}}
	looked, last := 0, -1
	for i := 1; i < len(text); i += len("{env:") {
		if _, _, _, ok := x.find(i, len(text)); ok {
			t.Fatal("a placeholder without an end")
		}
		if x.ends != last {
			looked, last = looked+1, x.ends
		}
	}
	if looked != 1 {
		t.Errorf("the text was read %d times", looked)
	}
}

// TestExpandedAgrees compares Expanded with what was replaced.
func TestExpandedAgrees(t *testing.T) {
	src, err := NewSource("f", []byte(`["a", "{env:A}", 1, {env:N}, "x{env:A}y{env:A}", [], "", "z"]`)).Expand([]string{"env"},
		func(_, arg string, _ Pos) (string, error) { return map[string]string{"A": "q", "N": "42"}[arg], nil })
	if err != nil {
		t.Fatal(err)
	}
	v, err := src.Parse()
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, e := range v.Items {
		got = append(got, e.Expanded())
	}
	if diff := cmp.Diff([]bool{false, true, false, true, true, false, false, false}, got); diff != "" {
		t.Errorf("expanded (-want +got):\n%s", diff)
	}
}

// TestDeleteOfManyTimesTheSame deletes a key that was written again and again.
func TestDeleteOfManyTimesTheSame(t *testing.T) {
	text := "{\n  // why\n  \"a\": 0,\n  \"b\": 1,\n" + strings.Repeat("  \"a\": 2,\n", 20_000) + "  \"c\": 3\n}\n"
	got, err := edited([]byte(text), []string{"a"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Parse("f", got); err != nil || string(v.Append(nil)) != `{"b":1,"c":3}` {
		t.Errorf("%v, %.200s", err, got)
	}
}
