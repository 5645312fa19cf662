package tui

import (
	"strings"
	"testing"

	"lathe"
	"lathe/internal/tui/styled"
)

const (
	hebrew = "שלום עולם"
	arabic = "مرحبا بالعالم"
)

// TestRightToLeft holds that text which is written from right to left is drawn in the order in
// which it is stored, which terminals that know such text arrange by themselves; that marks which
// would rearrange the rest of a row are taken out of it; and that rows and tables keep their shape.
func TestRightToLeft(t *testing.T) {
	table := "| name | n |\n|---|---|\n| " + hebrew + " | 5 |\n| " + arabic + " | 12 |\n| plain | 7 |\n"
	d := withHistory(t, Options{}, question(1, hebrew+" and \u202e"+arabic+"\u202c."),
		reply(2, &lathe.Text{Text: "# " + arabic + "\n\n- " + hebrew + " 123 " + arabic + "\n\n" + table}))
	d.shows(hebrew+" and "+arabic+".", "• "+hebrew+" 123 "+arabic)
	bar := -1
	for _, line := range d.lines() {
		if w := styled.Width(line, styled.WcWidth); w > 80 {
			t.Errorf("%d cells: %q", w, line)
		}
		if strings.ContainsAny(line, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") {
			t.Errorf("a mark is left in %q", line)
		}
		if at := strings.LastIndex(line, "│"); at >= 0 && strings.ContainsAny(line, "57") {
			cell := styled.Width(line[:at], styled.WcWidth)
			if bar >= 0 && cell != bar {
				t.Errorf("a column begins at %d and at %d: %q", bar, cell, line)
			}
			bar = cell
		}
	}
	if bar < 0 {
		t.Error("the table is not there")
	}
}

// TestWritingRightToLeft holds that the caret and deleting go by what was written last.
func TestWritingRightToLeft(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "hello"))
	d.typed(hebrew)
	_, c := d.app.screen()
	if want := 3 + styled.Width(hebrew, styled.WcWidth); c == nil || c.X != want {
		t.Errorf("the caret is at %+v, want column %d", c, want)
	}
	d.press("backspace", "left", "backspace")
	if got, want := d.app.input.Text(), "שלום על"; got != want {
		t.Errorf("after deleting: %q, want %q", got, want)
	}
	d.press("end", "ctrl+u")
	d.typed("مَ") // a letter and its vowel are one
	d.press("backspace")
	if got := d.app.input.Text(); got != "" {
		t.Errorf("a vowel without its letter: %q", got)
	}
}
