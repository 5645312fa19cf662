package styled

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const tab = "    "

// Clean makes text from models, tools and files harmless: escape sequences,
// control characters, bidirectional overrides and invisible characters are left
// out, tabs become blanks, carriage returns and other separators line breaks.
// The result is valid UTF-8, and cleaning it again changes nothing.
func Clean(text string) string {
	if clean(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\x1b':
			size = escape(text[i:])
		case r == '\t':
			b.WriteString(tab)
		case r == '\r' && strings.HasPrefix(text[i:], "\r\n"):
		case r == '\r' || r == '\u2028' || r == '\u2029':
			b.WriteByte('\n')
		case harmful(r):
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// OneLine returns the text clean and on one line.
func OneLine(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

func clean(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || c < 0x20 && c != '\n' || c == 0x7f {
			return !strings.ContainsFunc(text, func(r rune) bool {
				return r == utf8.RuneError || r == '\t' || r == '\u2028' || r == '\u2029' || harmful(r)
			})
		}
	}
	return true
}

// harmful reports characters that steer a terminal, disguise text or hide in it.
// The joiners that scripts and emoji need are none.
func harmful(r rune) bool {
	switch {
	case r == '\n', r == '\u200c', r == '\u200d':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r < 0xad:
		return false
	}
	return unicode.In(r, unicode.Cf) || r >= 0xe0000 && r <= 0xe0fff
}

// escape returns the length of the escape sequence that s begins with. A
// sequence that is not complete ends where it can no longer be one.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == '\a':
				return i + 1
			case s[i] == '\x1b' && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case s[i] == '\x1b' || s[i] == '\n':
				return i
			}
		}
		return len(s)
	case '(', ')', '*', '+', '#', '%', ' ':
		return min(3, len(s))
	}
	if s[1] < 0x20 || s[1] >= 0x7f {
		return 1
	}
	return 2
}
