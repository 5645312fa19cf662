package show

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/printable"
)

// printing returns what a terminal is told of a command that printed something.
func printing(printed string, environment map[string]string) string {
	var out, errs bytes.Buffer
	o := New(&console.Env{Stdout: &out, Stderr: &errs, StderrTTY: true, Width: 40, Getenv: func(name string) string { return environment[name] }}, Options{})
	o.Part(lathe.Part{ID: "p", Body: &lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{
		Input: json.RawMessage(`{"command":"make"}`), Metadata: map[string]any{"output": printed, "exit": 0},
	}}}, true)
	_, body, _ := strings.Cut(errs.String(), "\n")
	return body
}

// TestPrinted: a command's colours become the terminal's own; NO_COLOR and TERM=dumb leave none.
func TestPrinted(t *testing.T) {
	const text = "\x1b[1;38;2;250;30;20merror:\x1b[0m no\n10%\r20%\n\x1b[30;42m PASS \x1b[m 漢字漢字漢字漢字漢字漢字漢字漢字漢字\x1b]0;title\a\x1b[2J\n"
	want := "    \x1b[31;1merror:\x1b[m\x1b[2m no\x1b[m\n    \x1b[2m20%\x1b[m\n    \x1b[32;7m PASS \x1b[m\x1b[2m 漢字漢字漢字漢字漢字漢字漢字\x1b[m…\n"
	if diff := cmp.Diff(want, printing(text, nil)); diff != "" {
		t.Errorf("in colours (-want +got):\n%s", diff)
	}
	want = "    error: no\n    20%\n     PASS  漢字漢字漢字漢字漢字漢字漢字…\n"
	for _, plain := range []map[string]string{{"NO_COLOR": "1"}, {"TERM": "dumb"}} {
		if diff := cmp.Diff(want, printing(text, plain)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", plain, diff)
		}
	}
	if got := printing("\x1b[31m\x1b[0m\n", nil); got != "" {
		t.Errorf("no output is shown as %q", got)
	}
}

// FuzzPrinted holds that whatever a command prints, a terminal receives no escape sequence but
// lathe's own colours.
func FuzzPrinted(f *testing.F) {
	for _, s := range []string{"\x1b[31ma\x1b]0;x\a", "\x1b[2J\x1b[38;5;9mx\r\ny", "\x1bP\x1b\\\x1b[?1049h\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		rest := printing(in, nil)
		for {
			before, after, found := strings.Cut(rest, "\x1b[")
			if strings.ContainsFunc(before, printable.Harmful) {
				t.Fatalf("%q is printed as %q", in, before)
			}
			if !found {
				return
			}
			params, text, ends := strings.Cut(after, "m")
			if !ends || strings.Trim(params, "0123456789;") != "" {
				t.Fatalf("%q is printed with the sequence %q", in, params)
			}
			rest = text
		}
	})
}
