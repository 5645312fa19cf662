package jsonc

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseKeepsOrderAndPlaces(t *testing.T) {
	v, err := Parse("c.json", []byte("\ufeff{\n  // why\n  \"b\": 1, /* x */ \"a\": [true, null,],\n  \"b\": \"last\",\n} // end"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range v.Members {
		got = append(got, fmt.Sprintf("%s=%s at %s", m.Key, m.Value.Append(nil), m.Value.Pos()))
	}
	want := []string{`b="last" at c.json:4:8`, `a=[true,null] at c.json:3:24`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "f:1:1: the text ends before the value is complete"},
		{"{\n  \"a\": 1\n  \"b\": 2\n}", "f:3:3: invalid character '\"' after object value (expecting ',' or '}')\n      \"b\": 2\n      ^"},
		{"{\"a\": tru}", "f:1:7: not a JSON value\n    {\"a\": tru}\n          ^"},
		{"{\"a\": [1, 2", "f:1:12: the text ends before the value is complete\n    {\"a\": [1, 2\n               ^"},
		{"{\"apiKey\": sk-abc}", "f:1:12: not a JSON value"},
		{strings.Repeat("[", 200), "f:1:129: nested more than 128 deep"},
	} {
		_, err := Parse("f", []byte(tt.in))
		var se *SyntaxError
		if !errors.As(err, &se) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("Parse(%.40q): %v\nwant %s", tt.in, err, tt.want)
		}
	}
}

func TestExpand(t *testing.T) {
	src := NewSource("f", []byte(`{"a": "x{env:A}y", // {env:A}
 "n": {env:N}, "s": {env:A}, "z": nope{env:}`+"\n}"))
	out, err := src.Expand([]string{"env"}, func(_, arg string, _ Pos) (string, error) {
		return map[string]string{"A": "q\"\n", "N": "42"}[arg], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a": "xq\"\ny", // {env:A}` + "\n" + ` "n": 42, "s": "q\"\n", "z": nope""` + "\n}"
	if diff := cmp.Diff(want, string(out.text)); diff != "" {
		t.Error(diff)
	}
	_, err = out.Parse()
	if want := "f:2:35: not a JSON value"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEdit(t *testing.T) {
	const text = "{\n  // the model\n  \"model\": \"a/b\", // mine\n  \"agent\": {\n    \"build\": {\"steps\": 3} // few\n  }\n}\n"
	for _, tt := range []struct {
		name, in, path, value, want string
	}{
		{"replace", text, "model", `"c/d"`, strings.Replace(text, "a/b", "c/d", 1)},
		{"append", text, "share", `"auto"`, strings.Replace(text, "  }\n}\n", "  },\n  \"share\": \"auto\"\n}\n", 1)},
		{"append beside a comment", text, "agent.plan", `{"steps": 1}`,
			strings.Replace(text, "3} // few\n", "3}, // few\n    \"plan\": {\n      \"steps\": 1\n    }\n", 1)},
		{"make objects", "", "a.b", `[1,2]`, "{\n  \"a\": {\n    \"b\": [1, 2]\n  }\n}\n"},
		{"one line", `{"a": 1}`, "b", `2`, `{"a": 1, "b": 2}`},
		{"trailing comma", "{\n\t\"a\": 1,\n}", "b", `2`, "{\n\t\"a\": 1,\n\t\"b\": 2,\n}"},
		{"delete", text, "model", "", "{\n  \"agent\": {\n    \"build\": {\"steps\": 3} // few\n  }\n}\n"},
		{"delete deep", text, "agent.build.steps", "", strings.Replace(text, "{\"steps\": 3}", "{}", 1)},
		{"in the place of a number", `{"a": 1}`, "a.b", `1`, "{\"a\": {\n    \"b\": 1\n  }}"},
		{"delete nothing", text, "agent.no", "", text},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := strings.Split(tt.path, ".")
			got, err := edited([]byte(tt.in), path, tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// edited sets one value, or with none removes it.
func edited(text []byte, path []string, value string) ([]byte, error) {
	if value == "" {
		value = "null"
	}
	for _, key := range slices.Backward(path) {
		value = fmt.Sprintf("{%s:%s}", quote(key), value)
	}
	patch, err := Parse("change", []byte(value))
	if err != nil {
		return nil, err
	}
	return Merge(text, patch)
}

// TestMergeOfMany changes, adds and removes as many members as a patch can hold.
func TestMergeOfMany(t *testing.T) {
	const n = 30_000
	var text, patch, want strings.Builder
	text.WriteString("{\n  // mine\n  \"stays\": 1, // good\n  \"deep\": {")
	patch.WriteString("{\"deep\": {")
	want.WriteString(`{"stays":1,"deep":{`)
	comma := func(b *strings.Builder, i int) {
		if i > 0 {
			b.WriteString(",")
		}
	}
	for i := range n {
		comma(&text, i)
		fmt.Fprintf(&text, "\n    \"k%d\": 0", i)
		comma(&patch, i)
		if i%2 == 0 {
			fmt.Fprintf(&patch, `"k%d":null`, i)
		} else {
			fmt.Fprintf(&patch, `"k%d":%d,"new%d":{"a":[1]}`, i, i, i)
		}
	}
	text.WriteString("\n  }\n}\n")
	patch.WriteString("}}")
	for i := 1; i < n; i += 2 {
		comma(&want, i-1)
		fmt.Fprintf(&want, `"k%d":%d`, i, i)
	}
	for i := 1; i < n; i += 2 {
		fmt.Fprintf(&want, `,"new%d":{"a":[1]}`, i)
	}
	want.WriteString("}}")
	change, err := Parse("change", []byte(patch.String()))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Merge([]byte(text.String()), change)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Parse("merged", got)
	if err != nil || string(v.Append(nil)) != want.String() {
		t.Errorf("%v, %.300s", err, got)
	}
	if !strings.HasPrefix(string(got), "{\n  // mine\n  \"stays\": 1, // good\n  \"deep\": {\n    \"k1\": 1,") {
		t.Errorf("it begins %.200s", got)
	}
}

// A value that was set is read back, and the other keys are as before.
func TestMergeReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-z/~ "]{1,6}`)
		text := []byte("{}")
		want := map[string]any{}
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			k := key.Draw(t, "key")
			var err error
			if rapid.Bool().Draw(t, "delete") {
				text, err = edited(text, []string{k}, "")
				delete(want, k)
			} else {
				s := rapid.String().Draw(t, "value")
				raw, _ := json.Marshal(s)
				text, err = edited(text, []string{k}, string(raw))
				want[k] = s
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		v, err := Parse("t", text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if diff := cmp.Diff(want, v.Any()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"{}", "{\"a\":[1,2,{\"b\":null}],}", "// x", "{\"a\":{env:B}}", "\"\\ud800\"", "[[[[", "{\"a\" /*x*/ : /*y*/ 1 /*z*/}", "1e999", "{\"k\":\"{file:~/x}\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		src, err := NewSource("f", text).Expand([]string{"env", "file"}, func(_, arg string, _ Pos) (string, error) { return arg + "\"", nil })
		if err != nil {
			t.Fatal(err)
		}
		v, err := src.Parse()
		if err != nil {
			_ = err.Error()
			return
		}
		out := v.Append(nil)
		if !json.Valid(out) {
			t.Fatalf("%q became %q", text, out)
		}
		again, err := Parse("g", out)
		if err != nil || string(again.Append(nil)) != string(out) {
			t.Fatalf("%q read again: %v", out, err)
		}
		_ = v.Any()
		if v.Kind == Object {
			set, err := edited(text, []string{"k", "x"}, `{"y":[1]}`)
			if err != nil {
				return
			}
			if w, err := Parse("h", set); err != nil || w.Path("k", "x", "y") == nil {
				t.Fatalf("set in %q gave %q: %v", text, set, err)
			}
		}
	})
}
