package page

import (
	_ "embed" // the style sheet
	"strings"
	"unicode"
)

// style is the style sheet of all pages. A line of it that begins with a comment is for pages
// in whose HTML one of the comment's words stands; "pre:" asks for an element within
// preformatted text, "中" for Chinese.
//
//go:embed style.css
var style string

// styleOf returns the rules that a page needs. So the style of a short page is short.
func styleOf(html string) string {
	var b strings.Builder
	for l := range strings.Lines(style) {
		l = strings.TrimSuffix(l, "\n")
		if rest, ok := strings.CutPrefix(l, "/*"); ok {
			words, rule, _ := strings.Cut(rest, "*/")
			if !needs(html, strings.Fields(words)) {
				continue
			}
			l = rule
		}
		b.WriteString(l)
	}
	return b.String()
}

func needs(html string, words []string) bool {
	for _, w := range words {
		if tag, ok := strings.CutPrefix(w, "pre:"); ok && withinPre(html, "<"+tag+">") {
			return true
		}
		if w == "中" && strings.ContainsFunc(html, func(r rune) bool { return unicode.Is(unicode.Han, r) }) || strings.Contains(html, w) {
			return true
		}
	}
	return false
}

// withinPre reports whether an element begins in a text that is preformatted.
func withinPre(html, tag string) bool {
	for html != "" {
		_, html, _ = strings.Cut(html, "<pre>")
		if inside, _, _ := strings.Cut(html, "</pre>"); strings.Contains(inside, tag) {
			return true
		}
	}
	return false
}
