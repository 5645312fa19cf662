package learn

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"lathe/internal/api"
	"lathe/internal/redact"
)

// System says what the model is to do.
//
//go:embed ask.md
var System string

const (
	// MaxLessons is how many lines are proposed at most.
	MaxLessons = 5
	maxLine    = 200     // characters of one
	maxKnown   = 8 << 10 // bytes of the instructions that are shown
)

// Request words what the model is shown: the corrections, numbered, and the instructions
// that there are. Credentials are replaced.
func Request(found []api.Correction, known string) string {
	var b strings.Builder
	if known = strings.TrimSpace(known); known != "" {
		if len(known) > maxKnown {
			known = strings.ToValidUTF8(known[len(known)-maxKnown:], "")
		}
		fmt.Fprintf(&b, "The instructions say already:\n<instructions>\n%s\n</instructions>\n\n", known)
	}
	b.WriteString("Corrections:\n")
	for i, c := range found {
		fmt.Fprintf(&b, "\n[%d] %s: %s\n    person: %s\n", i+1, happened[c.Kind], c.Before, c.Text)
	}
	return redact.Text(b.String())
}

var happened = map[string]string{
	Said: "the agent had answered", Refused: "the person refused the call", Undone: "the person undid the request",
}

var proposal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:[-*]\s*)?\[\s*([0-9]+(?:\s*,\s*[0-9]+)*)\s*\]\s*[:-]?\s*(.+)$`)
})

// Parse reads the proposals of an answer. What names no correction, is too long, or is known
// already is left out.
func Parse(answer string, found []api.Correction, known string) []api.Lesson {
	out := []api.Lesson{}
	for text := range strings.Lines(answer) {
		m := proposal().FindStringSubmatch(strings.TrimRight(text, "\r\n"))
		if m == nil || len(out) == MaxLessons {
			continue
		}
		l := api.Lesson{Line: bare(m[2]), From: sources(m[1], found)}
		same := func(o api.Lesson) bool { return strings.EqualFold(o.Line, l.Line) }
		if l.Line == "" || utf8.RuneCountInString(l.Line) > maxLine || len(l.From) == 0 || slices.ContainsFunc(out, same) || Has(known, l.Line) {
			continue
		}
		out = append(out, l)
	}
	return out
}

// sources returns the corrections that an answer names by their numbers.
func sources(numbers string, found []api.Correction) (out []api.Correction) {
	for n := range strings.SplitSeq(numbers, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(n))
		if err == nil && i >= 1 && i <= len(found) && !slices.Contains(out, found[i-1]) {
			out = append(out, found[i-1])
		}
	}
	return out
}
