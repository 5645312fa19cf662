package marks

import (
	"strings"
	"testing"

	"lathe"
)

// TestName holds that a bookmark is called by words: by those of an answer without their Markdown,
// and by those of a person as they were written.
func TestName(t *testing.T) {
	text := "## **Done**\n\nI ran `go test` and [all](https://x) passed."
	if got, want := name(lathe.Message{Info: &lathe.Assistant{}}, text), "Done I ran go test and all passed."; got != want {
		t.Errorf("an answer is called %q, want %q", got, want)
	}
	if got, want := name(lathe.Message{Info: &lathe.User{}}, "why *this*?"), "why *this*?"; got != want {
		t.Errorf("a prompt is called %q, want %q", got, want)
	}
	if got := name(lathe.Message{Info: &lathe.Assistant{}}, strings.Repeat("ü", 9999)); got != strings.Repeat("ü", 60)+"…" {
		t.Errorf("a long answer is called %q", got)
	}
	if got := name(lathe.Message{Info: &lathe.Assistant{}}, "---"); got != "---" {
		t.Errorf("an answer without words is called %q", got)
	}
}
