package tui

import (
	"bytes"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/tui/paint"
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

// TestRightToLeftIsIsolated holds that a terminal which arranges text gets each piece of a row
// isolated, also when only what is around it changes, and that no other terminal gets any mark.
func TestRightToLeftIsIsolated(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "x"), reply(2, &lathe.Text{Text: "| name | n |\n|---|---|\n| " + hebrew + " | 5 |\n"}))
	for _, tt := range []struct {
		name string
		env  []string
		want bool
	}{
		{"Konsole", []string{"TERM=xterm-256color", "KONSOLE_VERSION=230800"}, true},
		{"Terminal.app", []string{"TERM=xterm-256color", "TERM_PROGRAM=Apple_Terminal"}, true},
		{"Konsole with tmux", []string{"TERM=tmux-256color", "KONSOLE_VERSION=230800", "TMUX=/x"}, false},
		{"kitty", []string{"TERM=xterm-kitty"}, false},
		{"VTE", []string{"TERM=xterm-256color", "VTE_VERSION=7600"}, false},
	} {
		d.app.style.Isolate(d.app.opts.Desk.isolates(tt.env))
		var out bytes.Buffer
		screen := paint.NewScreen(&out, tt.env, 80, 24)
		if err := screen.Paint(d.app.View()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "\u2068"+hebrew+"\u2069"); got != tt.want || !tt.want && strings.ContainsAny(out.String(), "\u2068\u2069") {
			t.Errorf("%s: isolated: %t, want %t\n%q", tt.name, got, tt.want, out.String())
		}
		if !tt.want {
			continue
		}
		out.Reset()
		v := d.app.View()
		v.Content = strings.Replace(v.Content, "│ 5", "│ 6", 1)
		v.Content = strings.Replace(v.Content, "   \u2068", " ! \u2068", 1)
		if err := screen.Paint(v); err != nil {
			t.Fatal(err)
		}
		if at := strings.Index(out.String(), "!"); at < 0 || !strings.Contains(out.String()[at:], "\u2068") {
			t.Errorf("%s: what stands before it is written without the mark: %q", tt.name, out.String())
		}
	}
	if on := true; !(Desk{Bidi: &on}).isolates([]string{"TERM=xterm-kitty"}) {
		t.Error("the setting does nothing")
	}
}
