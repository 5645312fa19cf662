package printable

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Plain returns what a program printed as a terminal would leave it, for a model: valid UTF-8,
// without escape sequences, of an overwritten line only what stood there last. Other characters stay.
func Plain(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.ContainsRune(text, '\x1b') {
		text = ansi.Strip(text)
	}
	if !strings.ContainsAny(text, "\r\b") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = overwritten(line)
	}
	return strings.Join(lines, "\n")
}

// overwritten returns what a line finally shows.
func overwritten(line string) string {
	line = strings.TrimRight(line, "\r")
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	if !strings.Contains(line, "\b") {
		return line
	}
	var out []rune
	for _, r := range line {
		if r != '\b' {
			out = append(out, r)
		} else if len(out) > 0 {
			out = out[:len(out)-1]
		}
	}
	return string(out)
}

// Last returns the last n characters of what a program printed, with its colours. A text that is
// longer, or more of which was printed before, begins with an ellipsis; it is never cut within an
// escape sequence.
func Last(text string, n int, more bool) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	over := utf8.RuneCountInString(text) - n
	if over <= 0 && !more {
		return text
	}
	at := 0
	for range max(over, 0) {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return "...\n\n" + text[boundary(text, at):]
}

// boundary returns the end of the escape sequence that a place is in the middle of, or the place.
func boundary(text string, at int) int {
	from := max(0, at-maxHeld)
	if i := strings.LastIndexByte(text[from:at], '\x1b'); i >= 0 {
		return max(at, from+i+escape(text[from+i:]))
	}
	return at
}
