// Package redact takes out of texts what looks like a credential, by the forms in which
// credentials are written. It errs on the side of taking out too much. Exports, log lines
// and what providers say about an error pass through it.
package redact

import (
	"regexp"
	"strings"
	"sync"
)

// Hidden stands for what was taken out.
const Hidden = "[secret removed]"

// form is a way in which credentials are written. Only a line that holds one of
// the hints is looked at. The first group of a match, what comes before the
// secret, is kept.
type form struct {
	hints []string // in lower case
	expr  func() *regexp.Regexp
	after string // what is kept of what comes after
}

// forms compile their expressions when the first line holds a hint of theirs: most
// processes meet none.
var forms = sync.OnceValue(func() []form {
	f := func(expr, after string, hints ...string) form {
		return form{hints, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) }), after}
	}
	return []form{
		f(`()\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}`, "", "sk-", "pk-", "rk-"),
		f(`()\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}`, "", "k_live_", "k_test_"),
		f(`()\bgh[pousr]_[A-Za-z0-9]{20,}`, "", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		f(`()\bgithub_pat_[A-Za-z0-9_]{20,}`, "", "github_pat_"),
		f(`()\bglpat-[A-Za-z0-9_-]{16,}`, "", "glpat-"),
		f(`()\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, "", "xox"),
		f(`()\b(?:AKIA|ASIA|AROA)[A-Z0-9]{16}\b`, "", "akia", "asia", "aroa"),
		f(`()\bAIza[A-Za-z0-9_-]{30,}`, "", "aiza"),
		f(`()\bya29\.[A-Za-z0-9_-]{20,}`, "", "ya29."),
		f(`()\b(?:hf|npm)_[A-Za-z0-9]{20,}`, "", "hf_", "npm_"),
		f(`()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, "", "eyj"),
		f(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}`, "", "bearer", "basic"),
		f(`(://[^\s/:@]{1,64}:)[^\s/@]{3,}@`, "@", "://"),
		f(`(?i)((?:api[_-]?key|secret|passw(?:or)?d|access[_-]?token|auth[_-]?token|private[_-]?key|client[_-]?secret)["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"',;]{6,}`,
			"", "key", "secret", "passw", "token"),
	}
})

// keyBlock is a private key as files hold it, over several lines.
var keyBlock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
})

// secretName matches the names of fields that hold credentials.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:.*[_-])?(?:api[_-]?key|secret|passw(?:or)?d|token|authorization|private[_-]?key|client[_-]?secret)$`)
})

// Secret reports whether a field of this name holds a credential, whatever it looks like.
func Secret(name string) bool { return secretName().MatchString(name) }

// Text replaces what looks like a credential in a text.
func Text(text string) string {
	if len(text) < 8 {
		return text
	}
	if strings.Contains(text, "PRIVATE KEY-----") {
		text = keyBlock().ReplaceAllString(text, Hidden)
	}
	if !hinted(strings.ToLower(text)) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	for line := range strings.Lines(text) {
		out.WriteString(redactLine(line, strings.ToLower(line)))
	}
	return out.String()
}

func hinted(lower string) bool {
	for _, f := range forms() {
		for _, h := range f.hints {
			if strings.Contains(lower, h) {
				return true
			}
		}
	}
	return false
}

func redactLine(line, lower string) string {
	for _, f := range forms() {
		for _, h := range f.hints {
			if strings.Contains(lower, h) {
				line = f.expr().ReplaceAllString(line, "${1}"+Hidden+f.after)
				break
			}
		}
	}
	return line
}
