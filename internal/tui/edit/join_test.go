package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tui/keys"
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
	e.Above(Written{Text: "it waited"})
	if !strings.HasPrefix(e.Value(), "it waited\n\nhalf "+long("x")) || len(e.Files()) != 1 {
		t.Errorf("above, %d files: %q", len(e.Files()), e.Value())
	}
	if e.DropAbove("something else") || !e.DropAbove("it waited") || !strings.HasPrefix(e.Value(), "half "+long("x")) || len(e.Files()) != 1 {
		t.Errorf("dropped again: %q", e.Value())
	}
	e = Editor{}
	if e.Above(Written{Text: "it waited"}); e.Value() != "it waited" {
		t.Errorf("above nothing: %q", e.Value())
	}
}

// TestPastedAgain holds that what was pasted is a chip again when its text comes back, apart from
// those that are there, and goes away as a whole with it.
func TestPastedAgain(t *testing.T) {
	log := strings.TrimSuffix(strings.Repeat("日志 line\n", 300), "\n")
	var sent Editor
	sent.Type("why? ")
	sent.Paste(log)
	sent.Type(" and ")
	sent.Paste(log + "!")
	one := Written{Text: sent.Value(), Pasted: sent.Pastes()}
	both := Join([]Written{{Text: "first"}, one, one})
	if diff := cmp.Diff("first\n\n"+one.Text+"\n\n"+one.Text, both.Text); diff != "" {
		t.Fatalf("joined (-want +got):\n%s", diff)
	}

	var e Editor
	e.Type("half ")
	e.Paste(log)
	e.Above(both)
	const want = "first\n\nwhy? [pasted text 2, 300 lines] and [pasted text 3, 300 lines]\n\n" +
		"why? [pasted text 4, 300 lines] and [pasted text 5, 300 lines]\n\nhalf [pasted text 1, 300 lines]"
	if diff := cmp.Diff(want, e.Text()); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(both.Text+"\n\nhalf "+log, e.Value()); diff != "" {
		t.Errorf("meant (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append(both.Pasted, [2]int{len(both.Text) + len("\n\nhalf "), len(e.Value())}), e.Pastes()); diff != "" {
		t.Errorf("sent again (-want +got):\n%s", diff)
	}
	if e.DropAbove(strings.Replace(both.Text, "300", "301", 1)+"x") || e.DropAbove(one.Text) {
		t.Error("a text was dropped that is not there")
	}
	if !e.DropAbove(both.Text) || e.Text() != "half [pasted text 1, 300 lines]" {
		t.Errorf("dropped: %q", e.Text())
	}
	if e.Do(keys.InputUndo); e.Text() != want {
		t.Errorf("after an undo: %q", e.Text())
	}
}
