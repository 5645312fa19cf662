package tui

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

func TestCodeBlocks(t *testing.T) {
	for text, want := range map[string][]codeBlock{
		"no code `here`": nil,
		"a\n```go\nfunc f() {\n}\n```\nb\n~~~\n```\n~~~": {{"go", "func f() {\n}\n"}, {"", "```\n"}},
		"````md\n```\nx\n```\n````":                      {{"md", "```\nx\n```\n"}},
		"```sh\nls 漢":                                    {{"sh", "ls 漢"}},
	} {
		if diff := cmp.Diff(want, codeBlocks(text), cmp.AllowUnexported(codeBlock{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// TestCopyCode holds that one block is copied at once, and that several are chosen from.
func TestCopyCode(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: "Run:\n\n```sh\nls\n```\nand\n```go\nx := 1\ny := 2\n```\n"}))
	d.typed("/code")
	d.press("esc", "enter")
	d.shows("copy a block of code", "ls  sh", "x := 1  go", "2 lines")
	d.press("down", "enter")
	d.shows("copied the block of code")

	d = withHistory(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: "```sh\nls\n```"}), question(3, "and"), reply(4, &lathe.Text{Text: "plain"}))
	d.typed("/code")
	d.press("esc", "enter")
	d.shows("copied the block of code") // of the answer before

	d = withHistory(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: "plain"}))
	d.typed("/code")
	d.press("esc", "enter")
	d.shows("no answer here holds a block of code")
}
