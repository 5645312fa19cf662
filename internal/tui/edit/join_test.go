package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJoin holds that no text runs into another one that is written already, and that pasted
// texts and files of both stay what they are.
func TestJoin(t *testing.T) {
	long := func(word string) string { return strings.TrimSuffix(strings.Repeat(word+"\n", chipLines+1), "\n") }
	written := func(text, pasted string) Editor {
		var e Editor
		e.Type(text)
		if pasted != "" {
			e.Paste(long(pasted))
		}
		return e
	}
	for _, tt := range []struct {
		name          string
		first, second Editor
		want          string
	}{
		{"nothing to begin with", Editor{}, written("/diff", ""), "/diff"},
		{"two words", written("/di", ""), written("/diff", ""), "/di\n/diff"},
		{"a line that is over", written("/di\n", ""), written("/diff", ""), "/di\n/diff"},
		{"a pasted text", written("a", ""), written("b ", "x"), "a\nb " + long("x")},
		{"two of the same name", written("a ", "x"), written("b ", "y"), "a " + long("x") + "\nb " + long("y")},
	} {
		e := tt.first
		e.Below(tt.second)
		e.Type("!")
		if diff := cmp.Diff(tt.want+"!", e.Value()); diff != "" {
			t.Errorf("%s: below (-want +got):\n%s", tt.name, diff)
		}
	}

	e := written("half ", "x")
	e.Attach(File{Name: "a.png"}, "image")
	e.Above("it waited")
	if !strings.HasPrefix(e.Value(), "it waited\n\nhalf "+long("x")) || len(e.Files()) != 1 {
		t.Errorf("above, %d files: %q", len(e.Files()), e.Value())
	}
	if e.DropAbove("something else") || !e.DropAbove("it waited") || !strings.HasPrefix(e.Value(), "half "+long("x")) || len(e.Files()) != 1 {
		t.Errorf("dropped again: %q", e.Value())
	}
	e = Editor{}
	if e.Above("it waited"); e.Value() != "it waited" {
		t.Errorf("above nothing: %q", e.Value())
	}
}
