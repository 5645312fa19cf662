package judge

import (
	"slices"
	"strings"

	"lathe"
)

// in reports whether a blank-separated list has the word.
func in(word, list string) bool {
	if word == "" || strings.Contains(word, " ") {
		return false
	}
	for from := 0; ; {
		i := strings.Index(list[from:], word)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(word)
		if (begin == 0 || list[begin-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		from = begin + 1
	}
}

// arity returns how many leading words say what a command does.
func arity(words []field) int {
	p := lookup(words[0].text)
	if len(words) > 1 && p.always[words[1].text] > 0 {
		return p.always[words[1].text]
	}
	return max(p.always[""], 1)
}

// alwaysPattern is the pattern that allows similar commands from then on. A
// wildcard in the words stays a literal character. Where an option stands among the words that
// should say what the command does, as in "git -c x=y commit", they do not say it: then it is
// that command alone.
func alwaysPattern(words []field) string {
	n := min(arity(words), len(words))
	more := " *"
	if slices.ContainsFunc(words[1:n], func(f field) bool { return strings.HasPrefix(f.text, "-") }) {
		n, more = len(words), ""
	}
	for _, f := range words[:n] {
		if !f.known || f.glob {
			return ""
		}
	}
	return lathe.LiteralPattern(joinWords(words[:n])) + more
}
