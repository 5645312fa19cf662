package ledger

import (
	"strings"
	"unicode/utf8"
)

// Words that mark a sentence as a constraint or decision, in lower case. They
// are matched as whole words if the script has words.
var (
	constraintWords = []string{
		"never", "must", "always", "don't", "do not", "dont", "only", "without", "avoid", "keep", "instead of", "should not",
		"shouldn't", "required", "forbidden", "make sure", "at most", "at least", "no longer than", "prefer", "may not", "cannot",
		"不要", "必须", "不得", "不能", "禁止", "务必", "只能", "一定", "总是", "请勿", "避免", "不准", "仅",
		"しないで", "必ず", "禁止", "だけ", "なければ", "ください",
	}
	decisionWords = []string{
		"decided", "decision", "decide", "chose", "choose", "instead of", "because", "we will use", "i will use", "i'll use",
		"going with", "settled on", "the cause", "root cause", "turns out", "rather than", "the reason", "next step", "remaining",
		"决定", "选择", "因为", "原因", "改用", "采用", "接下来", "決め", "原因は", "ため",
	}
)

func isConstraint(s string) bool { return hasAny(s, constraintWords) }
func isDecision(s string) bool   { return hasAny(s, decisionWords) }

func hasAny(s string, words []string) bool {
	lower := strings.ToLower(s)
	for _, w := range words {
		for from := 0; ; {
			i := strings.Index(lower[from:], w)
			if i < 0 {
				break
			}
			i += from
			if w[0] >= utf8.RuneSelf || (edge(lower, i-1) && edge(lower, i+len(w))) {
				return true
			}
			from = i + 1
		}
	}
	return false
}

// edge reports whether the byte at i is not part of an ASCII word.
func edge(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return true
	}
	b := s[i]
	return !(b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_')
}

// sentences returns the sentences of a text that want accepts, shortened to a
// limit. Code blocks are left out.
func sentences(text string, want func(string) bool) []string {
	var out []string
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code
			continue
		}
		if code {
			continue
		}
		for _, s := range split(line) {
			if s = strings.TrimSpace(s); utf8.RuneCountInString(s) >= 4 && want(s) {
				out = append(out, clip(s, maxSentence))
			}
		}
	}
	return out
}

// split cuts a line after the marks that end a sentence.
func split(line string) []string {
	var out []string
	start := 0
	for i, r := range line {
		n := utf8.RuneLen(r)
		switch r {
		case '.', '!', '?':
			if i+1 < len(line) && line[i+1] != ' ' {
				continue
			}
		case '。', '！', '？', '；':
		default:
			continue
		}
		out = append(out, line[start:i+n])
		start = i + n
	}
	return append(out, line[start:])
}
