package chat

import (
	"iter"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/tui/look"
)

// Messages are messages of a conversation, oldest first, and what can be found
// out about them.
type Messages []*entry

// LastPrompt returns the newest message of the person's that is shown.
func (m Messages) LastPrompt() (id lathe.MessageID, ok bool) {
	for _, e := range slices.Backward(m) {
		if _, ok := e.m.Info.(*lathe.User); ok && e.text() != "" {
			return e.m.ID, true
		}
	}
	return "", false
}

// Answer returns the text of the newest answer.
func (m Messages) Answer() string {
	for t := range m.Answers() {
		return t
	}
	return ""
}

// Answers returns the texts of the answers, the newest first.
func (m Messages) Answers() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, e := range slices.Backward(m) {
			if _, ok := e.m.Info.(*lathe.Assistant); !ok {
				continue
			}
			if t := e.text(); t != "" && !yield(t) {
				return
			}
		}
	}
}

// oldest returns the sequence number of the first message, or 0.
func (m Messages) oldest() int64 {
	if len(m) == 0 {
		return 0
	}
	return m[0].m.Seq
}

// Begun returns when the turn that is running was asked for, as far as that is known.
func (m Messages) Begun(now time.Time) time.Time {
	for _, e := range slices.Backward(m) {
		if _, ok := e.m.Info.(*lathe.User); ok && !e.m.Created.IsZero() && e.m.Created.Before(now) {
			return e.m.Created
		}
	}
	return now
}

// answerTo returns what was answered to a message, up to the next one of the
// person's.
func (m Messages) answerTo(e *entry) string {
	var words []string
	for _, o := range m[slices.Index(m, e)+1:] {
		if _, ok := o.m.Info.(*lathe.User); ok {
			break
		}
		if t := o.text(); t != "" {
			words = append(words, t)
		}
	}
	return strings.Join(words, "\n\n")
}

// link tells an entry which one is before it.
func (m Messages) link(at int) {
	if at < len(m) {
		m[at].before = nil
		if at > 0 {
			m[at].before = m[at-1]
		}
	}
}

// CacheHit returns how much of the last prompt was read from the provider's
// cache, in percent. Providers that report none have none.
func (m Messages) CacheHit() (int64, bool) {
	for _, e := range slices.Backward(m) {
		info, ok := e.m.Info.(*lathe.Assistant)
		if !ok || info.Tokens.Prompt() == 0 {
			continue
		}
		t := info.Tokens
		return t.CacheRead * 100 / t.Prompt(), t.CacheRead+t.CacheWrite > 0
	}
	return 0, false
}

// LastTook is how long the last turn took.
func (m Messages) LastTook() string {
	for _, e := range slices.Backward(m) {
		if info, ok := e.m.Info.(*lathe.Assistant); ok {
			if info.Completed.IsZero() {
				return ""
			}
			return look.Duration(e.took(info))
		}
	}
	return ""
}

// Used returns how many tokens the last answer took, and the model that gave it.
func (m Messages) Used() (tokens int64, model lathe.ModelRef) {
	for _, e := range slices.Backward(m) {
		if info, ok := e.m.Info.(*lathe.Assistant); ok && info.Tokens.Total() > 0 {
			return info.Tokens.Total(), info.Model
		}
	}
	return 0, lathe.ModelRef{}
}
