package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
)

func TestEditing(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		do         []keys.Action
		want       string // | is the caret
	}{
		{"type", "ab", nil, "ab|"},
		{"left over a family", "a👩‍👩‍👧b", []keys.Action{keys.Left, keys.Left}, "a|👩‍👩‍👧b"},
		{"backspace takes a whole cluster", "e\u0301", []keys.Action{keys.Backspace}, "|"},
		{"words back", "one two.three", []keys.Action{keys.WordBackward, keys.WordBackward}, "one |two.three"},
		{"delete a word back", "one two ", []keys.Action{keys.DeleteWordBack}, "one |"},
		{"line ends", "ab\ncd", []keys.Action{keys.LineHome, keys.Left, keys.LineHome, keys.DeleteToEnd, keys.DeleteToEnd}, "|cd"},
		{"undo and redo", "ab", []keys.Action{keys.Backspace, keys.InputUndo, keys.InputUndo, keys.InputRedo}, "ab|"},
		{"delete a line", "ab\ncd\nef", []keys.Action{keys.Left, keys.LineHome, keys.Left, keys.DeleteLine}, "ab\n|ef"},
		{"select and type over it", "one two", []keys.Action{keys.SelectWordBack, keys.Newline}, "one \n|"},
		{"delete what is selected", "ab\ncd", []keys.Action{keys.SelectHome, keys.SelectLeft, keys.SelectLeft, keys.DeleteWordBack}, "a|"},
		{"a move ends the selection", "abc", []keys.Action{keys.SelectLeft, keys.SelectLeft, keys.Left, keys.Backspace}, "|bc"},
		{"right goes to its end", "abc", []keys.Action{keys.SelectBufHome, keys.Right, keys.Backspace}, "ab|"},
		{"select all", "ab\ncd", []keys.Action{keys.SelectAll, keys.Backspace, keys.InputUndo}, "ab\ncd|"},
		{"select up to the edge", "ab\ncd", []keys.Action{keys.SelectUp, keys.SelectUp, keys.DeleteChar}, "|"},
		{"the row that is shown", "hello wide world", []keys.Action{keys.VisualHome, keys.Left, keys.VisualHome, keys.SelectVEnd, keys.Backspace}, "hello | world"},
		{"forward", "漢字", []keys.Action{keys.BufferHome, keys.Right, keys.DeleteChar}, "漢|"},
	} {
		var e Editor
		e.Type(tt.text)
		for _, a := range tt.do {
			e.DoShown(a, 7, styled.WcWidth)
		}
		if got := e.text[:e.at] + "|" + e.text[e.at:]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPasteBecomesAChip(t *testing.T) {
	var e Editor
	long := strings.Repeat("line\n", 20)
	e.Type("see ")
	e.Paste(long)
	e.Type(" ok")
	if want := "see [pasted text 1, 20 lines] ok"; e.Text() != want {
		t.Errorf("shown %q, want %q", e.Text(), want)
	}
	if want := "see " + strings.TrimRight(long, "\n") + " ok"; e.Value() != want {
		t.Errorf("value %q", e.Value())
	}
	for range 4 {
		e.Do(keys.Backspace)
	}
	if e.Text() != "see " || e.Value() != "see " {
		t.Errorf("after deleting the chip: %q, %q", e.Text(), e.Value())
	}
	e.Paste("short\x1b[31m")
	if e.Text() != "see short" {
		t.Errorf("short paste: %q", e.Text())
	}
}

func TestLayout(t *testing.T) {
	var e Editor
	e.Type("hello wide world\n\n漢字漢字")
	rows, row, col := e.Layout(7, styled.WcWidth)
	var got []string
	for _, r := range rows {
		got = append(got, e.text[r.From:r.To])
	}
	want := []string{"hello ", "wide ", "world", "", "漢字漢", "字"}
	if diff := cmp.Diff(want, got); diff != "" || row != 5 || col != 2 {
		t.Errorf("caret %d:%d, rows (-want +got):\n%s", row, col, diff)
	}
	for range 5 {
		if !e.Vertical(-1, 7, styled.WcWidth) {
			t.Fatal("stuck")
		}
	}
	if e.Vertical(-1, 7, styled.WcWidth) || e.at != 2 {
		t.Errorf("at %d, want 2: the column is kept over short rows", e.at)
	}
}

func TestHistory(t *testing.T) {
	var h History
	h.Add("one")
	h.Add("two")
	h.Add("two")
	var got []string
	for range 3 {
		s, _ := h.Previous("draft")
		got = append(got, s)
	}
	for range 3 {
		s, _ := h.Next()
		got = append(got, s)
	}
	if diff := cmp.Diff([]string{"two", "one", "", "two", "draft", ""}, got); diff != "" {
		t.Errorf("walk (-want +got):\n%s", diff)
	}
}

// TestAnyEditing holds that no sequence of edits breaks the text, loses the
// caret or makes a row too wide.
func TestAnyEditing(t *testing.T) {
	actions := []keys.Action{keys.Left, keys.Right, keys.LineHome, keys.LineEnd, keys.WordForward, keys.WordBackward, keys.Backspace,
		keys.DeleteChar, keys.DeleteWord, keys.DeleteWordBack, keys.DeleteToEnd, keys.DeleteToStart, keys.DeleteLine, keys.InputUndo, keys.InputRedo, keys.Newline,
		keys.SelectLeft, keys.SelectRight, keys.SelectUp, keys.SelectVEnd, keys.SelectWordBack, keys.SelectAll, keys.VisualHome}
	rapid.Check(t, func(t *rapid.T) {
		var e Editor
		width := rapid.IntRange(24, 60).Draw(t, "width")
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				e.Type(rapid.StringOfN(rapid.RuneFrom([]rune("a漢é👩\u200d🏽\u0301 ")), 0, 5, -1).Draw(t, "typed"))
			case 1:
				e.Paste(strings.Repeat("x\n", rapid.IntRange(0, 8).Draw(t, "lines")))
			case 2:
				e.Vertical(rapid.SampledFrom([]int{-1, 1}).Draw(t, "dir"), width, styled.WcWidth)
			default:
				e.DoShown(rapid.SampledFrom(actions).Draw(t, "action"), width, styled.WcWidth)
			}
			if from, to, ok := e.Selection(); ok && (from < 0 || to > len(e.text)) {
				t.Fatalf("selected %d to %d of %d", from, to, len(e.text))
			}
			if e.at < 0 || e.at > len(e.text) {
				t.Fatalf("caret %d of %d", e.at, len(e.text))
			}
			rows, row, col := e.Layout(width, styled.WcWidth)
			if row >= len(rows) || col > width {
				t.Fatalf("caret at %d:%d of %d rows, %d wide", row, col, len(rows), width)
			}
			total := 0
			for _, r := range rows {
				total += r.To - r.From
			}
			if total != len(e.text)-strings.Count(e.text, "\n") {
				t.Fatalf("rows hold %d of %d bytes", total, len(e.text))
			}
		}
	})
}

func TestValueOfChips(t *testing.T) {
	var e Editor
	long := strings.Repeat("[pasted text 2, 9 lines]\n", 9)
	e.Type("see ")
	e.Paste(long)
	e.Type(" and ")
	e.Paste(strings.Repeat("other\n", 9))
	e.Type(" in ")
	e.Attach(File{Name: "a.png", MIME: "image/png", Data: []byte("x")}, "image")
	want := "see " + strings.TrimRight(long, "\n") + " and " + strings.TrimRight(strings.Repeat("other\n", 9), "\n") + " in [image 3, a.png] "
	if diff := cmp.Diff(want, e.Value()); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]File{{Name: "a.png", MIME: "image/png", Data: []byte("x")}}, e.Files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	e.Do(keys.Backspace)
	e.Do(keys.Backspace)
	if len(e.Files()) != 0 || strings.Contains(e.Text(), "image") {
		t.Errorf("a removed chip leaves %q", e.Text())
	}
	again := FromDraft(e.Draft())
	if again.Value() != e.Value() || again.Caret() != e.Caret() || again.Text() != e.Text() {
		t.Errorf("the draft came back as %q, %d", again.Text(), again.Caret())
	}
}

func FuzzDraft(f *testing.F) {
	f.Add("a [x] b", 3, "[x]", "content")
	f.Add("\x1b[2J漢字", 4, "", "")
	f.Fuzz(func(t *testing.T, text string, caret int, label, content string) {
		e := FromDraft(Draft{Text: text, Caret: caret, Chips: map[string]string{label: content}})
		for range 3 {
			e.Do(keys.Left)
			e.Do(keys.Backspace)
			e.Value()
			e.Files()
		}
		if e.Caret() < 0 || e.Caret() > len(e.Text()) {
			t.Fatalf("caret %d in %q", e.Caret(), e.Text())
		}
		e.Layout(10, styled.WcWidth)
	})
}
