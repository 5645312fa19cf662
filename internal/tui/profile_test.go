package tui

import (
	"strings"
	"testing"

	"lathe"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/theme"
)

// TestSimpleTerminal holds that an old terminal is sent nothing that it would show.
func TestSimpleTerminal(t *testing.T) {
	for _, term := range []string{"linux", "vt100"} {
		var out strings.Builder
		d := withHistory(t, Options{ASCII: true, Mouse: true}, question(1, "go"), reply(2, &lathe.Text{Text: "see https://e.X/y"}))
		env := []string{"TERM=" + term}
		d.app.style.Plain(paint.Simple(env))
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

// TestDeletedIsRed holds that what is deleted and what failed reaches a terminal of
// few colours as red, where no COLORTERM says that it has more.
func TestDeletedIsRed(t *testing.T) {
	for term, want := range map[string]string{"xterm-256color": "38;5;", "xterm-color": "91"} {
		for _, name := range []string{"lathe", "dracula", "github"} {
			d := withHistory(t, Options{Theme: name}, question(1, "go"), reply(2,
				&lathe.ToolCall{Tool: "edit", State: &lathe.ToolDone{Metadata: map[string]any{"diff": "--- a\n+++ a\n@@ -1 +1 @@\n-gone\n+come\n"}}},
				&lathe.ToolCall{Tool: "read", State: &lathe.ToolFailed{Error: "no such file"}}))
			var out strings.Builder
			env := []string{"TERM=" + term, "TTY_FORCE=1"}
			profile := paint.Profile(&out, env)
			d.app.style.ReduceTo(profile)
			p := paint.NewScreen(&out, env, 80, 24)
			if err := p.Paint(d.app.View()); err != nil {
				t.Fatal(err)
			}
			for _, k := range []theme.Key{theme.DiffRemoved, theme.Error} {
				style := string(d.app.look.Theme.FG(k))
				if !strings.HasPrefix(style, want) || !strings.Contains(out.String(), style) {
					t.Errorf("%s, %s (%v): %s is drawn as %q, want %q:\n%q", term, name, profile, k, style, want, out.String())
				}
			}
		}
	}
}
