package tui

import (
	"regexp"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/tui/paint"
)

// TestCommandsInTheirColours holds that what a command prints is shown in its colours, as far as
// the terminal has them, while it runs and afterwards, in sheets and inline; and that nothing else
// of what it prints to steer a terminal is sent on.
func TestCommandsInTheirColours(t *testing.T) {
	const printed = "plain\n\x1b]0;stolen\a\x1b[2J\x1b[31mfailed\x1b[0m \x1b[38;2;20;200;40mpassed\x1b[m\x1b[?1049h\x1b]52;c;aGk=\a\n"
	running := &lathe.ToolCall{Tool: "bash", State: &lathe.ToolRunning{Input: []byte(`{"command":"make"}`), Metadata: map[string]any{"output": printed}}}
	ended := done("bash", 0, map[string]any{"command": "make"}, map[string]any{"exit": 0, "output": printed}, "plain\nfailed passed")
	for _, test := range []struct {
		env                 string
		failed, passed, not string
	}{
		{"TERM=xterm-256color COLORTERM=truecolor", `38;2;255;143;133m?failed`, `38;2;\d+;\d+;\d+mpassed`, `38;5;`},
		{"TERM=xterm-256color", `38;5;\d+mfailed`, `38;5;\d+mpassed`, `38;2;`},
		{"TERM=xterm-color", `91mfailed`, `92mpassed`, `38;`},
		{"TERM=xterm-256color COLORTERM=truecolor NO_COLOR=1", `failed`, `passed`, `[34]8;[25]|\x1b\[[39][0-7]m`},
	} {
		for kind, call := range map[string]*lathe.ToolCall{"running": running, "ended": ended} {
			d := withHistory(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: "I look."}, call))
			var full, inline strings.Builder
			env := append(strings.Fields(test.env), "TTY_FORCE=1")
			d.app.style.ReduceTo(paint.Profile(&full, env))
			p, q := paint.NewScreen(&full, env, 80, 24), paint.NewInline(&inline, env, 80, 24)
			for _, err := range []error{p.Paint(d.app.View()), q.Paint(d.app.flow(), d.app.region())} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for where, out := range map[string]string{"screen": full.String(), "inline": inline.String()} {
				for _, want := range []string{test.failed, test.passed} {
					if !regexp.MustCompile(want).MatchString(out) {
						t.Errorf("%s, %s, %s: no %s in %q", test.env, kind, where, want, out)
					}
				}
				if bad := regexp.MustCompile(test.not + `|stolen|aGk|1049h`).FindString(out); bad != "" {
					t.Errorf("%s, %s, %s: %q is sent: %q", test.env, kind, where, bad, out)
				}
			}
		}
	}
}
