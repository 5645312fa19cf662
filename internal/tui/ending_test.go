package tui

import (
	"testing"

	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
)

// TestEnding holds that the name of a file loses whole characters, at its
// beginning.
func TestEnding(t *testing.T) {
	for _, c := range []struct {
		path string
		room int
		want string
	}{
		{"a/b.go", 6, "a/b.go"},
		{"internal/tui/app.go", 10, "…ui/app.go"},
		{"docs/文書/説明.md", 9, "…/説明.md"},
		{"docs/文書/説明.md", 8, "…説明.md"},
		{"docs/文書/説明.md", 7, "…明.md"},
		{"docs/文書/説明.md", 6, "…明.md"},
		{"docs/e\u0301/👩‍💻.md", 6, "…👩‍💻.md"},
		{"文", 1, "…"},
	} {
		if got := (look.Look{Method: styled.Grapheme}).Ending(c.path, c.room); got != c.want {
			t.Errorf("%q in %d is %q, not %q", c.path, c.room, got, c.want)
		}
	}
}
