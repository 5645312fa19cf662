package transcript

import (
	"regexp"
	"sync"
)

const hidden = "[secret removed]"

// secrets are the forms in which credentials are written. A match's first group,
// if any, is kept: it is what comes before the secret.
var secrets = sync.OnceValue(func() []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, expr := range []string{
		`(?s)()-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
		`()\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}`,
		`()\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}`,
		`()\bgh[pousr]_[A-Za-z0-9]{20,}`,
		`()\bgithub_pat_[A-Za-z0-9_]{20,}`,
		`()\bglpat-[A-Za-z0-9_-]{16,}`,
		`()\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,
		`()\b(?:AKIA|ASIA|AROA)[A-Z0-9]{16}\b`,
		`()\bAIza[A-Za-z0-9_-]{30,}`,
		`()\bya29\.[A-Za-z0-9_-]{20,}`,
		`()\b(?:hf|npm)_[A-Za-z0-9]{20,}`,
		`()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`,
		`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}`,
		`(?i)(://[^\s/:@]{1,64}:)[^\s/@]{3,}@`,
		`(?i)(["']?[a-z0-9_.-]{0,40}(?:api[_-]?key|secret|passw(?:or)?d|access[_-]?token|auth[_-]?token|private[_-]?key|client[_-]?secret)["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"',;]{6,}`,
	} {
		out = append(out, regexp.MustCompile(expr))
	}
	return out
})

// secretName matches the names of fields that hold credentials.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:.*[_-])?(?:api[_-]?key|secret|passw(?:or)?d|token|authorization|private[_-]?key|client[_-]?secret)$`)
})

// Redact replaces what looks like a secret in a text. It errs on the side of
// removing too much.
func Redact(text string) string {
	if len(text) < 8 {
		return text
	}
	for i, re := range secrets() {
		with := "${1}" + hidden
		if i == 13 { // the address of a URL stays readable
			with += "@"
		}
		text = re.ReplaceAllString(text, with)
	}
	return text
}
