package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// style colours text for a terminal, or leaves it alone.
type style struct{ on bool }

// newStyle is on for terminals, unless NO_COLOR or TERM=dumb say otherwise.
func newStyle(tty bool, getenv func(string) string) style {
	return style{on: tty && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
}

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string   { return s.paint("1", t) }
func (s style) dim(t string) string    { return s.paint("2", t) }
func (s style) red(t string) string    { return s.paint("31", t) }
func (s style) green(t string) string  { return s.paint("32", t) }
func (s style) yellow(t string) string { return s.paint("33", t) }
func (s style) blue(t string) string   { return s.paint("34", t) }

// clean makes text from models, tools and files harmless for a terminal: control
// characters, escape sequences and bidirectional overrides lose their effect.
// New lines and tabs stay.
func clean(text string) string {
	if !needsCleaning(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteRune(utf8.RuneError)
		case r == '\x1b':
			size = escapeLen(text[i:])
		case harmful(r):
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

func needsCleaning(text string) bool {
	for _, r := range text {
		if r == utf8.RuneError || r == '\x1b' || harmful(r) {
			return true
		}
	}
	return false
}

// harmful reports characters that steer a terminal or disguise text.
func harmful(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
		return true
	case r >= 0xE0000 && r <= 0xE007F: // invisible tag characters
		return true
	}
	return false
}

// escapeLen returns the length of the escape sequence that s starts with: CSI up
// to its final byte, string sequences (OSC, DCS, APC, PM, SOS) up to their end,
// else two bytes. A sequence that is not complete ends where a new one could begin.
func escapeLen(s string) int {
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
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == '\x1b' {
				if i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
				return i
			}
			if s[i] == '\n' {
				return i
			}
		}
		return len(s)
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	if s[1] < 0x20 {
		return 1
	}
	return 1 + size
}

// oneLine returns text as a single line of at most max characters.
func oneLine(text string, max int) string {
	text = strings.Join(strings.Fields(clean(text)), " ")
	runes := []rune(text)
	if max > 1 && len(runes) > max {
		return string(runes[:max-1]) + "…"
	}
	return text
}
