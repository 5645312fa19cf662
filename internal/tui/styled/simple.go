package styled

import (
	"strings"
	"unicode/utf8"
)

// Simple returns the text as it has to be drawn on a terminal that does not
// measure whole clusters, where some clusters take fewer or more cells than one
// would think, and not the same everywhere: a joined emoji is reduced to its
// first one, skin tones and colour selectors are left out, and Hangul letters
// are combined into syllables. Widths by [WcWidth] are those of the simple
// text.
func Simple(text string) string {
	if !strings.ContainsFunc(text, special) {
		return text
	}
	var b strings.Builder
	for text != "" {
		c, _ := cluster(text, WcWidth)
		b.WriteString(simple(c))
		text = text[len(c):]
	}
	return b.String()
}

// special reports characters that make a cluster not simple.
func special(r rune) bool {
	return r == '\u200d' || r == '\ufe0f' || r >= 0x1f3fb && r <= 0x1f3ff || vowel(r) || final(r)
}

func vowel(r rune) bool { return r >= 0x1161 && r <= 0x1175 }
func final(r rune) bool { return r >= 0x11a8 && r <= 0x11c2 }

// simple returns a cluster as [Simple] does.
func simple(c string) string {
	if !strings.ContainsFunc(c, special) {
		return c
	}
	first, size := utf8.DecodeRuneInString(c)
	if first >= 0x2190 { // a symbol: only the first one stays
		if i := strings.IndexRune(c, '\u200d'); i >= size {
			c = c[:i]
		}
	}
	out := make([]rune, 0, 4)
	for i, r := range c {
		n := len(out)
		switch {
		case r == '\ufe0f', i > 0 && r >= 0x1f3fb && r <= 0x1f3ff:
		case vowel(r) && n > 0 && out[n-1] >= 0x1100 && out[n-1] <= 0x1112:
			out[n-1] = 0xac00 + ((out[n-1]-0x1100)*21+(r-0x1161))*28
		case final(r) && n > 0 && out[n-1] >= 0xac00 && out[n-1] <= 0xd7a3 && (out[n-1]-0xac00)%28 == 0:
			out[n-1] += r - 0x11a7
		default:
			out = append(out, r)
		}
	}
	return string(out)
}
