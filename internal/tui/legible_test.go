package tui

import (
	"fmt"
	"image/color"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"lathe"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/paint/emulator"
)

// TestScreensCanBeRead looks at every letter of real screens, with edits, errors, commands in colours
// and asks, as a terminal of 80×24 draws it: dark and light, in true colour, 256 and sixteen
// colours, and without any. Each has a contrast of 4.5:1 to what is behind it.
func TestScreensCanBeRead(t *testing.T) {
	for _, light := range []bool{false, true} {
		for _, env := range []string{
			"TERM=xterm-256color COLORTERM=truecolor", "TERM=xterm-256color", "TERM=xterm-color", "TERM=xterm-256color COLORTERM=truecolor NO_COLOR=1",
		} {
			for name, d := range screensWithEverything(t) {
				paper, ink := color.RGBA{0x21, 0x25, 0x2b, 0xff}, color.RGBA{0xe6, 0xe6, 0xe6, 0xff}
				if light {
					paper, ink = color.RGBA{0xf4, 0xf4, 0xf4, 0xff}, color.RGBA{0x20, 0x20, 0x20, 0xff}
				}
				if strings.Contains(env, "xterm-color") { // the palette is xterm's, and so is the background
					paper, ink = color.RGBA{0, 0, 0, 0xff}, color.RGBA{0xe5, 0xe5, 0xe5, 0xff}
					if light {
						paper, ink = color.RGBA{0xff, 0xff, 0xff, 0xff}, color.RGBA{0, 0, 0, 0xff}
					}
				}
				d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
				d.send(tea.BackgroundColorMsg{Color: paper})
				e := emulator.New(80, 24)
				list := append(strings.Fields(env), "TTY_FORCE=1")
				d.app.style.ReduceTo(paint.Profile(e, list))
				p := paint.NewScreen(e, list, 80, 24)
				if err := p.Paint(d.app.View()); err != nil {
					t.Fatal(err)
				}
				colours := 0
				e.Cells(func(x, y int, cluster string, style uv.Style) {
					r, _ := utf8.DecodeRuneInString(cluster)
					fg, bg := drawnIn(style, ink, paper)
					if style.Fg != nil || style.Bg != nil {
						colours++
					}
					if got := emulator.Contrast(fg, bg); got < 4.5 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
						t.Errorf("%s, light %v, %s: %q at %d,%d is %v on %v, contrast %.2f:\n%s", name, light, env, cluster, x, y, fg, bg, got, e.Lines()[y])
					}
				})
				if none := strings.Contains(env, "NO_COLOR"); none != (colours == 0) {
					t.Errorf("%s, %s: %d clusters have colours", name, env, colours)
				}
			}
		}
	}
}

// screensWithEverything returns screens that hold each kind of what a session shows.
func screensWithEverything(t *testing.T) map[string]*driver {
	diff := "--- a/calc.go\n+++ b/calc.go\n@@ -1,3 +1,3 @@ package calc\n a\n-return a - b\n+return a + b\n c\n"
	printed := ""
	for n := range 16 {
		printed += fmt.Sprintf("\x1b[38;5;%dmc%d \x1b[48;5;%dmb%d\x1b[m ", n, n, n, n)
	}
	printed += "\n\x1b[38;5;17mdark\x1b[m \x1b[38;2;30;34;40mdarker\x1b[m \x1b[38;5;231mlight\x1b[m \x1b[2mfaint\x1b[m \x1b[1mbold\x1b[m \x1b[7mback\x1b[m \x1b[38;2;250;250;240;48;2;240;250;250mpale\x1b[m\n"
	failed := &lathe.ToolCall{Tool: "read", State: &lathe.ToolFailed{Input: []byte(`{"filePath":"x.go"}`), Error: "File not found: x.go", Time: lathe.Span{Start: time.Unix(0, 0), End: time.Unix(1, 0)}}}
	made := map[string]*driver{
		"edits and errors": withHistory(t, Options{}, question(1, "Mend it"), reply(2, done("edit", 0, map[string]any{"filePath": "calc.go"}, map[string]any{"diff": diff}, ""), failed)),
		"colours":          withHistory(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: "I look."}, done("bash", 0, map[string]any{"command": "make"}, map[string]any{"exit": 2, "output": printed}, ""))),
		"an answer": withHistory(t, Options{}, question(1, "why"), reply(2,
			&lathe.Text{Text: "# Title\n\n**bold** *soft* `code` [link](https://x.y)\n\n> quote\n\n```go\nfunc f() string { return \"x\" } // why\n```\n\n- [x] 完成\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |"})),
		"a start": drive(t, Options{}),
	}
	ask := withHistory(t, Options{}, question(1, "go"))
	ask.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"curl x | sh"}, Always: []string{"curl *"},
		Metadata: map[string]any{"command": "curl x | sh", "description": "install", "risks": []string{"uses the network: curl"}, "reasons": []string{"a shell runs what it reads"}}}})
	made["a command asks"] = ask
	edit := withHistory(t, Options{}, question(1, "go"))
	edit.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "edit", Patterns: []string{"calc.go"}, Metadata: map[string]any{"filepath": "calc.go", "diff": diff}}})
	made["an edit asks"] = edit
	return made
}

// drawnIn returns the colours of letters and of what is behind them.
func drawnIn(s uv.Style, ink, paper color.Color) (fg, bg color.Color) {
	fg, bg = ink, paper
	if s.Fg != nil {
		fg = rgbOf(s.Fg)
	}
	if s.Bg != nil {
		bg = rgbOf(s.Bg)
	}
	if s.Attrs&uv.AttrReverse != 0 {
		fg, bg = bg, fg
	}
	return fg, bg
}

// rgbOf returns a colour as xterm shows it.
func rgbOf(c color.Color) color.Color {
	if n, ok := c.(ansi.BasicColor); ok {
		return [...]color.RGBA{
			{0, 0, 0, 255}, {0xcd, 0, 0, 255}, {0, 0xcd, 0, 255}, {0xcd, 0xcd, 0, 255}, {0, 0, 0xee, 255}, {0xcd, 0, 0xcd, 255}, {0, 0xcd, 0xcd, 255}, {0xe5, 0xe5, 0xe5, 255},
			{0x7f, 0x7f, 0x7f, 255}, {0xff, 0, 0, 255}, {0, 0xff, 0, 255}, {0xff, 0xff, 0, 255}, {0x5c, 0x5c, 0xff, 255}, {0xff, 0, 0xff, 255}, {0, 0xff, 0xff, 255}, {0xff, 0xff, 0xff, 255},
		}[n]
	}
	return c
}
