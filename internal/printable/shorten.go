package printable

import (
	"strings"
	"unicode/utf8"
)

// Shorten returns a text of at most n characters, with "..." in the place of what
// is left out. n is at least 3.
func Shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-3])) + "..."
}
