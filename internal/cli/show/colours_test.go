package show

import (
	"bytes"
	"encoding/json"
	"image/color"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	uv "github.com/charmbracelet/ultraviolet"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/tui/paint/emulator"
	"lathe/internal/tui/theme"
)

const changed = "--- a/greet.go\n+++ b/greet.go\n@@ -1,3 +1,3 @@\n func greet(name string) string {\n-\treturn \"hello \" + name\n+\treturn \"hello, 你好 \" + name\n }\n"

// running returns what a terminal is sent of a run that did a little of everything.
func running(environment map[string]string, tty bool) string { return runningIn(nil, environment, tty) }

// runningIn is [running] in a theme that was chosen; nil: none was.
func runningIn(chosen *theme.Theme, environment map[string]string, tty bool) string {
	var out bytes.Buffer
	var environ []string
	for k, v := range environment {
		environ = append(environ, k+"="+v)
	}
	o := New(&console.Env{Stdout: &out, Stderr: &out, StdoutTTY: tty, StderrTTY: tty, Width: 80, Environ: environ, Getenv: func(name string) string { return environment[name] }}, Options{Thinking: true, Theme: func() *theme.Theme { return chosen }})
	part := func(id lathe.PartID, b lathe.PartBody) { o.Part(lathe.Part{ID: id, Body: b}, true) }
	end := lathe.Span{End: time.Unix(1, 0)}
	part("r", &lathe.Reasoning{Text: "first the file", Time: end})
	part("a", &lathe.ToolCall{Tool: "edit", State: &lathe.ToolDone{Input: json.RawMessage(`{"filePath":"greet.go"}`), Title: "greet.go", Metadata: map[string]any{"diff": changed}, Time: lathe.Span{End: time.Unix(5, 0)}}})
	part("b", &lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{Input: json.RawMessage(`{"command":"make"}`), Metadata: map[string]any{"output": "\x1b[31mFAIL\x1b[0m \x1b[30;43m warns \x1b[0m ok \x1b[38;5;17mdeep blue\x1b[0m\n", "exit": 2}}})
	part("c", &lathe.ToolCall{Tool: "read", State: &lathe.ToolFailed{Input: json.RawMessage(`{"filePath":"x"}`), Error: "no such file"}})
	o.Notice("a notice")
	o.Ask(lathe.Ask{Permission: "edit", Patterns: []string{"greet.go"}, Metadata: map[string]any{"diff": changed}})
	if tty {
		o.stream(answer)
		o.settle()
	}
	return out.String()
}

// TestRunIsLegible computes the contrast of everything that a run prints on a terminal whose
// background is known, in full colour and in 256; elsewhere only the terminal's own colours
// are used, and none where none are wanted.
func TestRunIsLegible(t *testing.T) {
	legible := func(name, background, colorterm, sent string) {
		t.Helper()
		e := emulator.New(80, 120)
		_, _ = e.Write([]byte(strings.ReplaceAll(sent, "\n", "\r\n")))
		ground := map[string]color.Color{"dark": color.RGBA{0x21, 0x25, 0x2b, 0xff}, "light": color.RGBA{0xf4, 0xf4, 0xf4, 0xff}}[background]
		e.Cells(func(x, y int, text string, style uv.Style) {
			fg, bg := style.Fg, style.Bg
			if bg == nil {
				bg = ground
			}
			if fg == nil || !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				return
			}
			if got := emulator.Contrast(fg, bg); got < 4.5 {
				t.Errorf("theme %s, %s, COLORTERM=%q: %q at %d,%d is %v on %v, contrast %.2f:\n%s", name, background, colorterm, text, x, y, fg, bg, got, e.Lines()[y])
			}
		})
	}
	for _, background := range []string{"dark", "light"} {
		for _, colorterm := range []string{"truecolor", ""} {
			environment := map[string]string{"TERM": "xterm-256color", "COLORTERM": colorterm, "LATHE_BACKGROUND": background}
			sent := running(environment, true)
			want := map[string]string{"truecolor": "\x1b[38;2;", "": "\x1b[38;5;"}[colorterm]
			if !strings.Contains(sent, want) {
				t.Errorf("%s, COLORTERM=%q: no colours like %q in %q", background, colorterm, want, sent)
			}
			legible("none", background, colorterm, sent)
			for _, name := range theme.Names() {
				if name == "system" || colorterm == "" { // its colours are the terminal's own, or reduced as the theme's tests hold
					continue
				}
				legible(name, background, colorterm, runningIn(theme.Named(nil, name), environment, true))
			}
			if other := runningIn(theme.Named(nil, "dracula"), environment, true); background == "dark" && other == sent {
				t.Error("a theme that was chosen changes nothing")
			}
		}
	}
	params := regexp.MustCompile(`\x1b\[([0-9;]*)m`)
	for name, environment := range map[string]map[string]string{
		"a background that is not known": {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
		"sixteen colours":                {"TERM": "xterm", "COLORFGBG": "0;15"},
		"the console":                    {"TERM": "linux", "LATHE_BACKGROUND": "dark"},
	} {
		for _, m := range params.FindAllStringSubmatch(running(environment, true), -1) {
			if slices.ContainsFunc(strings.Split(m[1], ";"), func(p string) bool { return p == "38" || p == "48" }) {
				t.Errorf("%s: %q is a colour that the terminal may not have, or that may not be read", name, m[0])
			}
		}
	}
	for _, none := range []string{running(map[string]string{"TERM": "xterm-256color", "LATHE_BACKGROUND": "dark"}, false), running(map[string]string{"TERM": "dumb", "LATHE_BACKGROUND": "dark"}, true)} {
		if strings.Contains(none, "\x1b") {
			t.Errorf("no terminal, or a dumb one: %q", none)
		}
	}
	for _, m := range params.FindAllStringSubmatch(running(map[string]string{"TERM": "xterm", "NO_COLOR": "1", "LATHE_BACKGROUND": "dark"}, true), -1) {
		if strings.ContainsFunc(m[1], func(r rune) bool { return r == '3' && strings.Contains(m[1], "38") }) {
			t.Errorf("NO_COLOR: %q", m[0])
		}
	}
}

// TestBackground holds what says whether a terminal is dark.
func TestBackground(t *testing.T) {
	for of, want := range map[string][2]bool{
		"": {}, "15;0": {true, true}, "0;15": {false, true}, "0;default;15": {false, true}, "12;8": {true, true}, "0;7": {false, true}, "15;default": {}, "x;99": {},
	} {
		dark, known := background(func(name string) string {
			return map[string]string{"COLORFGBG": of}[name]
		})
		if dark != want[0] || known != want[1] {
			t.Errorf("COLORFGBG=%q: dark %t, known %t", of, dark, known)
		}
	}
	if dark, known := background(func(string) string { return "light" }); dark || !known {
		t.Error("LATHE_BACKGROUND does not count")
	}
}
