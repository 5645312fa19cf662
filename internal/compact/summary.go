package compact

import (
	_ "embed" // the request for a summary
	"strings"
	"unicode"
)

//go:embed summary.md
var summaryText string

// Request returns the request for a summary: the override if there is one, else
// the built-in text, then what plugins add.
func Request(override string, extra []string) string {
	text := strings.TrimSpace(override)
	if text == "" {
		text = strings.TrimSpace(summaryText)
	}
	for _, x := range extra {
		if x = strings.TrimSpace(x); x != "" {
			text += "\n\n" + x
		}
	}
	return text
}

// NoSummary replaces a summary that could not be obtained.
const NoSummary = "No summary of the earlier conversation could be made. What lathe recorded of it follows."

// The least number of letters in a summary: a word, plus one letter for a number of
// tokens that it sums up, and never more than a short sentence.
const (
	leastLetters    = 4
	tokensPerLetter = 200
	mostLetters     = 24
)

// Useful reports whether an answer is a summary of a conversation of that many
// tokens: it has words, and is neither a refusal nor an echo of the request. A short
// conversation may have a short summary.
func Useful(answer, request string, conversation int64) bool {
	answer = strings.TrimSpace(answer)
	letters := 0
	for _, r := range answer {
		if unicode.IsLetter(r) {
			letters++
			if r > 0x2E80 {
				letters++ // a character of these scripts says more
			}
		}
	}
	if int64(letters) < min(mostLetters, leastLetters+conversation/tokensPerLetter) || strings.Contains(request, answer) {
		return false
	}
	lower := strings.ToLower(answer)
	for _, no := range []string{"i can't help", "i cannot help", "i'm sorry, but", "i am sorry, but", "as an ai"} {
		if strings.HasPrefix(lower, no) && letters < 400 {
			return false
		}
	}
	return true
}
