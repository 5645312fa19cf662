package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMath bounds, in bytes, a formula within a text.
const maxMath = 2 << 10

// math reads a formula between \( and \), or \[ and \].
func (d *Delimiters) math(rest string) (body string, n int) {
	if len(rest) < 2 || rest[1] != '(' && rest[1] != '[' {
		return "", 0
	}
	mark := `\)`
	if rest[1] == '[' {
		mark = `\]`
	}
	return d.formula(rest[2:], mark, 2)
}

// dollars reads a formula between dollar signs. Amounts of money and variables of a shell are
// none: nothing blank stands within the signs, and neither letter nor digit outside of them.
func (d *Delimiters) dollars(text string, at int) (Element, int) {
	rest := text[at:]
	if body, ok := strings.CutPrefix(rest, "$$"); ok {
		if body, n := d.formula(body, "$$", 2); n > 0 {
			return Element{Kind: Math, Text: body}, n
		}
		return run(rest)
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	if len(rest) < 3 || rest[1] == ' ' || wordy(before) {
		return Element{}, 0
	}
	body, n := d.formula(rest[1:], "$", 1)
	if n == 0 || strings.HasSuffix(body, " ") || strings.HasSuffix(body, `\`) {
		return Element{}, 0
	}
	if after, _ := utf8.DecodeRuneInString(rest[n:]); unicode.IsDigit(after) || after == '_' || unicode.IsLetter(after) && after < 0x80 {
		return Element{}, 0
	}
	return Element{Kind: Math, Text: body}, n
}

func wordy(r rune) bool {
	return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '$'
}

// formula returns the text up to a mark that closes it. Prose between such marks is none.
func (d *Delimiters) formula(rest, mark string, opened int) (body string, n int) {
	if d.unclosed[mark] {
		return "", 0
	}
	end := strings.Index(rest[:min(len(rest), maxMath)], mark)
	if end < 0 {
		if len(rest) <= maxMath {
			d.missing(mark)
		}
		return "", 0
	}
	if strings.TrimSpace(rest[:end]) == "" || Prosaic(rest[:end]) {
		return "", 0
	}
	return rest[:end], opened + end + len(mark)
}

// Prosaic reports whether a text between the marks of a formula is words: two that are long,
// one after the other, and no command.
func Prosaic(text string) bool {
	long := 0
	for word := range strings.FieldsSeq(text) {
		if len(word) > 1 && strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != ',' && r != '.' }) < 0 {
			if long++; long > 1 {
				return true
			}
			continue
		}
		long = 0
	}
	return false
}

// MathBlock returns how many lines a formula takes that the source begins with and that stands
// by itself, and what it is; 0 if there is none, or its end is not there yet.
func MathBlock(src []string) (body string, n int) {
	first := strings.TrimSpace(src[0])
	mark := ""
	switch {
	case strings.HasPrefix(first, "$$"):
		mark = "$$"
	case strings.HasPrefix(first, `\[`):
		mark = `\]`
	default:
		return "", 0
	}
	var lines []string
	for i, l := range src[:min(len(src), 60)] {
		if l = strings.TrimSpace(l); i == 0 {
			l = l[2:]
		}
		if text, ok := strings.CutSuffix(strings.TrimRight(l, ".,; "), mark); ok {
			return strings.Join(append(lines, text), "\n"), i + 1
		}
		if strings.Contains(l, mark) || l == "" && i > 0 {
			return "", 0
		}
		lines = append(lines, l)
	}
	return "", 0
}
