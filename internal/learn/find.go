package learn

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/permission"
	"lathe/internal/printable"
)

// Bounds of what is looked at and shown to a model.
const (
	MaxSessions    = 40  // of a project, those used last
	MaxMessages    = 400 // of a session, the newest
	MaxCorrections = 24  // of all of them, the newest
	maxPrompt      = 400 // characters of a prompt that can be a correction; longer ones are new work
	maxText        = 400 // characters of what is shown of a correction
	maxBefore      = 240 // characters of what is shown of what it corrects
)

// Kinds of corrections.
const (
	Said    = "said"    // a prompt that corrects the answer before it
	Refused = "refused" // a permission was refused, with words
	Undone  = "undone"  // a prompt was undone, and another one took its place
)

// Replaced is a prompt that the person undid. After is the message that it followed, empty
// for the first one.
type Replaced struct {
	After lathe.MessageID
	Text  string
}

// correcting finds the words of a correction: those that say it wherever they stand, and
// those that say it only at the beginning of a prompt.
var correcting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(no|nope|not|stop|wait|actually|instead|wrong|hmm|sorry, but)\b` +
		`|\b(don['’]?t|do not|never|always|must not|should(n['’]t| not)|should (have|be|use)|instead|rather than|wrong|incorrect|mistake` +
		`|not what|i (said|told|meant|asked)|as i said|you (forgot|missed|broke|ignored)|why did you|we use|use the|please use|from now on|next time|undo|revert|put .* back)\b` +
		`|^\s*(不|别|错|停|等等|等一下|其实)` +
		`|不要|别再|不对|错了|不是这|不应该|应该|我说过|说过了|我的意思|而不是|改用|请用|要用|必须|以后|下次|从现在|总是|每次|忘了|漏了|为什么|撤销|改回|恢复`)
})

// Find returns the corrections of a session, oldest first. Messages are the session's,
// oldest first, without what a revert hides.
func Find(sess lathe.Session, messages []lathe.Message, undone []Replaced) []api.Correction {
	var out []api.Correction
	before, last := "", lathe.MessageID("")
	for i := range messages {
		m := &messages[i]
		add := func(kind, was, text string) {
			out = append(out, api.Correction{
				Session: sess.ID, Title: printable.Line(sess.Title), Message: m.ID, Time: m.Created.UnixMilli(), Kind: kind,
				Before: end(was, maxBefore), Text: printable.Shorten(printable.Line(text), maxText),
			})
		}
		switch m.Info.(type) {
		case *lathe.User:
			text := Typed(m)
			was, replaced := replacedBy(undone, last, text)
			switch {
			case text == "":
			case replaced:
				add(Undone, was, text)
			case before != "" && corrects(text):
				add(Said, before, text)
			}
		case *lathe.Assistant:
			for _, r := range refusals(m) {
				add(Refused, r.call, r.words)
			}
			if text := answered(m); text != "" {
				before = text
			}
		}
		last = m.ID
	}
	return out
}

// corrects reports whether a prompt that follows an answer reads like a correction of it.
func corrects(text string) bool {
	return utf8.RuneCountInString(text) <= maxPrompt && correcting().MatchString(text)
}

// replacedBy returns the prompt that was undone where another one was typed afterwards.
func replacedBy(undone []Replaced, last lathe.MessageID, text string) (was string, ok bool) {
	for _, u := range undone {
		if u.After == last && u.Text != printable.Shorten(text, maxPrompt) {
			was, ok = u.Text, true
		}
	}
	return was, ok
}

// Typed returns what the person typed in a message.
func Typed(m *lathe.Message) string {
	var words []string
	for _, p := range m.Parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Synthetic && !t.Ignored {
			words = append(words, t.Text)
		}
	}
	return strings.TrimSpace(strings.Join(words, "\n"))
}

// answered returns what a message says, or else what it did.
func answered(m *lathe.Message) string {
	said, did := "", ""
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if text := strings.TrimSpace(b.Text); text != "" {
				said = text
			}
		case *lathe.ToolCall:
			did = called(b)
		}
	}
	if said != "" {
		return said
	}
	return did
}

func called(c *lathe.ToolCall) string {
	switch st := c.State.(type) {
	case *lathe.ToolDone:
		return c.Tool + " " + string(st.Input)
	case *lathe.ToolFailed:
		return c.Tool + " " + string(st.Input)
	}
	return c.Tool
}

type refusal struct{ call, words string }

// refusals returns the calls of a message that the person refused with words.
func refusals(m *lathe.Message) (out []refusal) {
	for _, p := range m.Parts {
		c, ok := p.Body.(*lathe.ToolCall)
		if !ok {
			continue
		}
		st, ok := c.State.(*lathe.ToolFailed)
		if !ok {
			continue
		}
		if words, ok := permission.Feedback(st.Error); ok && strings.TrimSpace(words) != "" {
			out = append(out, refusal{called(c), words})
		}
	}
	return out
}

// end returns the last n characters of a text, on one line.
func end(text string, n int) string {
	runes := []rune(printable.Line(text))
	if len(runes) > n {
		return "…" + string(runes[len(runes)-n+1:])
	}
	return string(runes)
}
