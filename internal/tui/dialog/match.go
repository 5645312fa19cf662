package dialog

import (
	"strings"
	"unicode/utf8"
)

// Match scores how well a text has the characters of a query, in order; whole
// words and their beginnings count most. It reports false if the text does not
// have them.
func Match(query, text string) (score int, ok bool) {
	query, text = strings.ToLower(query), strings.ToLower(text)
	for w := range strings.FieldsSeq(query) {
		s, ok := matchWord(w, text)
		if !ok {
			return 0, false
		}
		score += s
	}
	return score - utf8.RuneCountInString(text)/8, true
}

func matchWord(w, text string) (int, bool) {
	if i := strings.Index(text, w); i >= 0 {
		score := 100
		if i == 0 || strings.ContainsAny(text[i-1:i], " /-_.:") {
			score = 200
		}
		return score, true
	}
	at, gaps := 0, 0
	for _, r := range w {
		i := strings.IndexRune(text[at:], r)
		if i < 0 {
			return 0, false
		}
		if i > 0 {
			gaps++
		}
		at += i + utf8.RuneLen(r)
	}
	return 50 - min(gaps*5, 50), true
}
