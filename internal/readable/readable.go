// Package readable turns what lathe writes for a model into what a person reads:
// the tags that structure results of tools, rules as JSON, and the ledger of a
// compaction have a meaning for the model alone.
package readable

import (
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/ledger"
	"lathe/internal/permission"
	"lathe/internal/store"
)

// Output returns the result of a tool without the tags around it. Text that only
// looks like them, in the middle of a file, stays.
func Output(text string) string {
	if rest, ok := strings.CutPrefix(text, "<path>"); ok {
		return body(rest, text)
	}
	if text, notes, ok := strings.Cut(text, "<bash_metadata>\n"); ok && strings.HasSuffix(notes, "\n</bash_metadata>") {
		return text + strings.TrimSuffix(notes, "\n</bash_metadata>")
	}
	if words, ok := permission.Feedback(text); ok {
		return "refused: " + words
	}
	switch text {
	case (*permission.Rejected)(nil).Error():
		return "refused"
	case store.Interrupted:
		return "interrupted"
	}
	return denied(text)
}

// body returns what read found, without its frame and what follows it for the model.
func body(rest, whole string) string {
	for _, tag := range []string{"content", "entries"} {
		_, inner, ok := strings.Cut(rest, "\n<"+tag+">\n")
		if !ok {
			continue
		}
		if i := strings.LastIndex(inner, "\n</"+tag+">"); i >= 0 {
			return strings.TrimRight(withoutEnd(inner[:i]), "\n")
		}
	}
	return whole
}

// withoutEnd leaves out the last line of a file that was read to its end: that there is no
// more of it is for the model.
func withoutEnd(text string) string {
	if i := strings.LastIndex(text, "\n(End of file - total "); i >= 0 && !strings.Contains(text[i+1:], "\n") {
		return text[:i]
	}
	return text
}

// deniedText is what earlier versions told the model of a denial, before the rules as
// JSON; stored sessions hold it.
const deniedText = "A rule of the user prevents this specific tool call. The rules that concern it: "

// denied says in words which rules forbid a call.
func denied(text string) string {
	before, list, ok := strings.Cut(text, deniedText)
	if !ok {
		return text
	}
	var rules []struct{ Permission, Pattern, Action string }
	dec := json.NewDecoder(strings.NewReader(list))
	if dec.Decode(&rules) != nil {
		return text
	}
	out := before + "Not allowed by the rules"
	for _, r := range rules {
		if r.Action == "deny" {
			out += fmt.Sprintf("; denied: %s %q", r.Permission, r.Pattern)
		}
	}
	return out + ". lathe permissions lists the rules" + list[dec.InputOffset():]
}

// Ledger returns what a compaction kept for the model as a person reads it, and
// whether a text is that.
func Ledger(text string) (string, bool) {
	inner, ok := strings.CutPrefix(text, ledger.Header+"\n")
	if !ok {
		return "", false
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), ledger.Footer)), true
}
