package compact

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lathe"
	"lathe/internal/prompt"
)

// leastBytes is the least that a transcript shows of a tool's output, and a
// quarter of the least it shows of a message.
const leastBytes = 2000

// MostPasses bounds how many requests a summary takes.
const MostPasses = 16

// Transcript is a conversation as plain text, in parts that a model sums up one after the
// other: each is shown with the summary of those before it.
type Transcript struct {
	Prior string   // the summary that the conversation began with; may be empty
	Parts []string // oldest first, at least one

	room int // bytes of a summary that are shown beside a part
}

// NewTranscript renders messages for a model that writes a summary without the running
// prefix. Everything is in one part if that fits the budget of tokens, else in as many as
// are needed: all that is about to go is shown. What stays word for word is shown briefly.
// Only beyond [MostPasses] are the longest texts cut in the middle, as little as possible,
// and finally the oldest messages left out.
func NewTranscript(view []lathe.Message, stays map[lathe.MessageID]bool, budget int64) Transcript {
	t := transcript{view: view, stays: stays, most: longest(view)}
	prior := clip(t.prior(), int(budget)) // about a quarter of it at most
	if room := budget - count(prior); t.weight() <= room {
		return Transcript{Prior: prior, Parts: []string{strings.Join(t.newest(room), "\n")}, room: int(budget)}
	}
	room := max(budget*3/4, 1)                // a summary takes the rest
	all := room * (MostPasses - MostPasses/4) // see pack
	for t.most > leastBytes && t.weight() > all {
		t.most /= 2
	}
	t.most = max(t.most, leastBytes)
	return Transcript{Prior: prior, Parts: pack(t.newest(all), room), room: int(budget)}
}

// Pass returns what the model is shown of a part: with the summary of the parts before.
func (t Transcript) Pass(i int, summary string) string {
	var b strings.Builder
	if n := len(t.Parts); n > 1 {
		fmt.Fprintf(&b, "The conversation is shown in %d parts, oldest first. This is part %d.", n, i+1)
		if i > 0 {
			b.WriteString(" The prior summary says what the earlier parts held: keep what it says unless this part shows that it changed.")
		}
		b.WriteString("\n\n")
	}
	if summary != "" {
		fmt.Fprintf(&b, "<prior-summary>\n%s\n</prior-summary>\n\n", clip(summary, t.room))
	}
	fmt.Fprintf(&b, "<conversation>\n%s\n</conversation>", t.Parts[i])
	return b.String()
}

// longest returns the length of the longest text of messages.
func longest(view []lathe.Message) int {
	n := leastBytes
	for i := range view {
		for _, p := range view[i].Parts {
			switch b := p.Body.(type) {
			case *lathe.Text:
				n = max(n, len(b.Text)/4)
			case *lathe.ToolCall:
				n = max(n, len(inputOf(b)))
				switch state := b.State.(type) {
				case *lathe.ToolDone:
					n = max(n, len(state.Output))
				case *lathe.ToolFailed:
					n = max(n, len(state.Error))
				}
			}
		}
	}
	return n
}

// transcript shows at most most bytes of each result that goes.
type transcript struct {
	view  []lathe.Message
	stays map[lathe.MessageID]bool
	most  int
}

func (t *transcript) render(m *lathe.Message) string {
	if t.stays[m.ID] {
		return render(m, leastBytes)
	}
	return render(m, t.most)
}

func (t *transcript) weight() (sum int64) {
	for i := range t.view {
		if a := Answer(&t.view[i]); a == nil || !a.Summary {
			sum += count(t.render(&t.view[i]))
		}
	}
	return sum
}

// prior returns the newest summary in the conversation.
func (t *transcript) prior() (text string) {
	for i := range t.view {
		if a := Answer(&t.view[i]); a != nil && a.Summary {
			text = said(&t.view[i])
		}
	}
	return text
}

// newest renders the newest messages that fit the budget, oldest first.
func (t *transcript) newest(left int64) (lines []string) {
	for i := len(t.view) - 1; i >= 0; i-- {
		m := &t.view[i]
		if a := Answer(m); a != nil && a.Summary {
			continue
		}
		text := t.render(m)
		w := count(text)
		if w > left {
			if left > 200 {
				lines = append(lines, clip(text, int(left)*2))
			}
			lines = append(lines, "[older messages are left out]")
			break
		}
		left -= w
		lines = append(lines, text)
	}
	slices.Reverse(lines)
	return lines
}

// pack puts texts into parts, in their order. One that does not fit goes on in the next
// part, unless little of this one would be left empty: less than a quarter.
func pack(texts []string, room int64) (parts []string) {
	var now []string
	left := room
	next := func() {
		parts, now, left = append(parts, strings.Join(now, "\n")), nil, room
	}
	for _, text := range texts {
		for count(text) > left {
			if len(now) > 0 && left < room/4 {
				next()
				continue
			}
			n := wholeRunes(text, fitting(text, left))
			now = append(now, text[:n])
			text = text[n:]
			next()
		}
		if text == "" {
			continue
		}
		now, left = append(now, text), left-count(text)
	}
	if len(now) > 0 || len(parts) == 0 {
		next()
	}
	return parts
}

// wholeRunes moves an end within a text back to where a character ends, but not to 0.
func wholeRunes(text string, end int) int {
	for n := end; n > 0 && n > end-utf8.UTFMax; n-- {
		if n == len(text) || utf8.RuneStart(text[n]) {
			return n
		}
	}
	return end
}

func said(m *lathe.Message) string {
	var out []string
	for _, p := range m.Parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Ignored {
			out = append(out, t.Text)
		}
	}
	return strings.Join(out, "\n")
}

func render(m *lathe.Message, most int) string {
	if prompt.Mark(m) != nil {
		return ""
	}
	who := "[User]: "
	if Answer(m) != nil {
		who = "[Assistant]: "
	}
	var out []string
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if !b.Ignored && b.Text != "" {
				out = append(out, who+clip(b.Text, 4*most))
			}
		case *lathe.File:
			out = append(out, fmt.Sprintf("[Attached %s: %s]", b.MIME, b.Filename))
		case *lathe.ToolCall:
			out = append(out, renderCall(b, most))
		}
	}
	return strings.Join(out, "\n")
}

func renderCall(c *lathe.ToolCall, most int) string {
	head := fmt.Sprintf("[Assistant tool call]: %s(%s)", c.Tool, clip(inputOf(c), most))
	switch s := c.State.(type) {
	case *lathe.ToolDone:
		if !s.Compacted.IsZero() {
			return head
		}
		return head + "\n[Tool result]: " + clip(s.Output, most)
	case *lathe.ToolFailed:
		return head + "\n[Tool error]: " + clip(s.Error, most)
	}
	return head
}

// clip cuts text in the middle to about n bytes.
func clip(s string, n int) string {
	if n = max(n, 0); len(s) <= n {
		return s
	}
	head := n * 2 / 3
	return strings.ToValidUTF8(s[:head], "") + " […] " + strings.ToValidUTF8(s[len(s)-(n-head):], "")
}
