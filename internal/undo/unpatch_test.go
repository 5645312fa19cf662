package undo

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func numbered(from, till int, but ...string) string {
	var b strings.Builder
	swap := map[string]string{}
	for i := 0; i+1 < len(but); i += 2 {
		swap[but[i]] = but[i+1]
	}
	for i := from; i <= till; i++ {
		line := fmt.Sprint(i)
		if s, ok := swap[line]; ok {
			line = s
		}
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func TestUnpatch(t *testing.T) {
	before := numbered(1, 40)
	after := numbered(1, 40, "3", "three", "30", "thirty", "35", "")
	for _, tt := range []struct {
		name, now string
		hunk      int
		want      string
	}{
		{"all of it", after, 0, before},
		{"the first hunk", after, 1, numbered(1, 40, "30", "thirty", "35", "")},
		{"the second hunk", after, 2, numbered(1, 40, "3", "three", "35", "")},
		{"the third hunk", after, 3, numbered(1, 40, "3", "three", "30", "thirty")},
		{"there is no fourth", after, 4, ""},
		{"after lines came before it", "zero\n" + after, 2, "zero\n" + numbered(1, 40, "3", "three", "35", "")},
		{"another place was changed", numbered(1, 40, "3", "three", "15", "fifteen", "30", "thirty", "35", ""), 0, numbered(1, 40, "15", "fifteen")},
		{"the same line was changed", numbered(1, 40, "3", "drei", "30", "thirty", "35", ""), 1, ""},
		{"only the other hunk was", numbered(1, 40, "3", "drei", "30", "thirty", "35", ""), 2, numbered(1, 40, "3", "drei", "35", "")},
		{"something stands where lines were removed", numbered(1, 40, "3", "three", "30", "thirty", "35", "xxxv"), 3, ""},
		{"it is back already", before, 0, ""},
		{"the hunk is back already", numbered(1, 40, "3", "three", "35", ""), 2, ""},
		{"all that is not back yet", numbered(1, 40, "3", "three", "35", ""), 0, before},
		{"back in part, and changed in part", numbered(1, 40, "3", "drei", "35", ""), 0, ""},
	} {
		if back := strings.Contains(tt.name, "back already"); undone(tt.now, before, after, tt.hunk) != back {
			t.Errorf("%s: undone is not %t", tt.name, back)
		}
		got, ok := unpatch(tt.now, before, after, tt.hunk)
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %t\n%s\nwant\n%s", tt.name, ok, got, tt.want)
		}
	}
}

// TestUnpatchRestores holds that taking all changes back in the text as they left it gives the
// text before, and that hunk by hunk it does so as well.
func TestUnpatchRestores(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "漢\n"}), 0, 30).Draw(t, "lines")
		return strings.Join(lines, "") + rapid.SampledFrom([]string{"", "end"}).Draw(t, "end")
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		if before == after {
			return
		}
		if got, ok := unpatch(after, before, after, 0); !ok || got != before {
			t.Fatalf("%t, %q, want %q", ok, got, before)
		}
		now := after
		for hunk := 100; hunk > 0; hunk-- { // from the end: the others stay where they are
			if next, ok := unpatch(now, before, after, hunk); ok {
				now = next
			}
		}
		if now != before {
			t.Fatalf("hunk by hunk: %q, want %q", now, before)
		}
	})
}
