package tui

import (
	"strings"
	"testing"

	"lathe"
	"lathe/internal/tui/paint"
)

// TestSimpleTerminal holds that an old terminal is sent nothing that it would show.
func TestSimpleTerminal(t *testing.T) {
	for _, term := range []string{"linux", "vt100"} {
		var out strings.Builder
		d := withHistory(t, Options{ASCII: true, Mouse: true}, question(1, "go"), reply(2, &lathe.Text{Text: "see https://e.X/y"}))
		env := []string{"TERM=" + term}
		d.app.noLinks = paint.Simple(env)
		p := paint.NewScreen(&out, env, 80, 24)
		q := paint.NewInline(&out, env, 80, 24)
		for _, err := range []error{p.Start(), p.Ask(), p.Paint(d.app.View()), p.Stop(), q.Start(), q.Ask(), q.Paint(d.app.flow(), d.app.region()), q.Stop()} {
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
