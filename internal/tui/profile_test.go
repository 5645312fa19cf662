package tui

import (
	"strings"
	"testing"

	"lathe"
)

func TestFewColors(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want bool
	}{
		{[]string{"TERM=linux"}, true},
		{[]string{"TERM=xterm-16color"}, true},
		{[]string{"TERM=xterm-256color"}, false},
		{[]string{"TERM=xterm", "COLORTERM=truecolor"}, false},
		{[]string{"TERM=screen", "TMUX=x"}, false},
		{[]string{"TERM=xterm-256color", "NO_COLOR=yes"}, false},
	} {
		if got := FewColors(tt.env); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.env, got, tt.want)
		}
	}
}

// TestSimpleTerminal holds that an old terminal is sent nothing that it would show.
func TestSimpleTerminal(t *testing.T) {
	for _, term := range []string{"linux", "vt100"} {
		var out strings.Builder
		d := withHistory(t, Options{ASCII: true, Mouse: true}, question(1, "go"), reply(2, &lathe.Text{Text: "see https://e.x/y"}))
		env := []string{"TERM=" + term}
		d.app.noLinks = simple(env)
		p := newPainter(&out, env, 80, 24)
		q := newInline(&out, env, 80, 24)
		for _, err := range []error{p.start(), p.ask(), p.paint(d.app.View()), p.stop(), q.start(), q.ask(), q.paint(d.app.flow(), d.app.region()), q.stop()} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, bad := range []string{"\x1b]", "\x1b[>", "\x1b[<", "$p", "\x1bP", "\x1b_"} {
			if strings.Contains(out.String(), bad) {
				t.Errorf("%s is sent %q: %q", term, bad, out.String())
			}
		}
	}
}
