package chat

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/styled"
)

// Goto goes to a message, which may have to be read first.
type Goto struct{ Message lathe.MessageID }

// Spot is a place in the conversation where words stand: the words in a message, counted
// from 0.
type Spot struct {
	Message lathe.MessageID
	Nth     int
	Words   string
}

// Seek makes [Conversation.Reach] go to a spot instead of the beginning of its message, and
// marks its words wherever they are on screen. The zero value ends that.
func (c *Conversation) Seek(s Spot) { c.spot = s }

// At remembers where the conversation is scrolled to; back returns there.
func (c *Conversation) At() (back func()) {
	was := c.bottom
	return func() { c.bottom = was }
}

// Hides reports whether a message is undone and so not shown.
func (c *Conversation) Hides(m lathe.Message) bool {
	from := c.byID[c.revert]
	return c.revert != "" && from != nil && m.Seq >= from.m.Seq
}

// OnTop returns the first message on screen that says something, and its text; at the end of
// the conversation the newest prompt.
func (c *Conversation) OnTop() (m lathe.Message, text string, ok bool) {
	_, places := c.screen()
	if c.Following() { // the newest prompt is what a person means at the end
		if id, ok := c.Shown().LastPrompt(); ok {
			e := c.byID[id]
			return e.m, e.text(), true
		}
	}
	for _, p := range places {
		if text := p.e.text(); text != "" {
			return p.e.m, text, true
		}
	}
	return m, "", false
}

// toSpot scrolls to the spot in a message that was read. Folded pieces that have its words
// are unfolded.
func (c *Conversation) toSpot() {
	list := c.Shown()
	e := c.byID[c.spot.Message]
	at := -1
	for i := range list {
		if list[i] == e {
			at = i
		}
	}
	if at < 0 {
		return
	}
	lines := c.linesWith(e)
	if len(lines) == 0 && c.unfold(e) {
		lines = c.linesWith(e)
	}
	line := 0
	if len(lines) > 0 {
		line = lines[min(c.spot.Nth, len(lines)-1)]
	}
	c.bottom.e, c.bottom.lines = e, line+1
	c.move(c.height - 1 - c.height/3)
}

// linesWith returns the lines of an entry that have the words, once for each time.
func (c *Conversation) linesWith(e *entry) (out []int) {
	for i, line := range c.pen().draw(e) {
		for range Count(line.Text(), c.spot.Words) {
			out = append(out, i)
		}
	}
	return out
}

// unfold unfolds the pieces of an entry that have the words, and reports whether there are any.
func (c *Conversation) unfold(e *entry) (any bool) {
	for _, p := range e.pieces {
		if CountIn(p.part.Body, c.spot.Words) > 0 {
			p.turned, p.fresh, any = !p.turned, pen{}, true
		}
	}
	e.fresh = pen{}
	return any
}

// underline marks the words that are sought in the lines on screen.
func (c *Conversation) underline(lines []styled.Line) {
	if c.spot.Words == "" {
		return
	}
	m := c.look().Method
	for i, line := range lines {
		text := line.Text()
		for from := 0; ; {
			at, end := index(text[from:], c.spot.Words)
			if at < 0 {
				break
			}
			x := styled.Width(text[:from+at], m)
			lines[i], _ = lines[i].Between(x, x+styled.Width(text[from+at:from+end], m), m, styled.Reverse)
			from += end
		}
	}
}

// Count says how often words stand in a text. Small letters stand for capitals, too.
func Count(text, words string) (n int) {
	if words == "" {
		return 0
	}
	for {
		at, end := index(text, words)
		if at < 0 {
			return n
		}
		n, text = n+1, text[end:]
	}
}

// index returns where words begin and end in a text, or -1.
func index(text, words string) (at, end int) {
	if at = strings.Index(text, words); strings.ContainsFunc(words, unicode.IsUpper) {
		return at, at + len(words)
	}
	if low := strings.ToLower(text); len(low) == len(text) { // else places in it are others
		at = strings.Index(low, words)
	}
	return at, at + len(words)
}

// CountIn says how often words stand in a part, as far as it is shown to people.
func CountIn(b lathe.PartBody, words string) (n int) {
	switch b := b.(type) {
	case *lathe.Text:
		if !b.Synthetic {
			n = Count(b.Text, words)
		}
	case *lathe.Reasoning:
		n = Count(b.Text, words)
	case *lathe.ToolCall:
		s := Summarize(b)
		n = Count(s.Name+" "+s.About, words) + Count(s.Output, words) + Count(s.Diff, words)
	case *lathe.File:
		n = Count(b.Filename, words)
	}
	return n
}

// ToPrompt scrolls to the person's next message, or for -1 to the one before; older ones are
// read when there is none.
func (c *Conversation) ToPrompt(dir int) tea.Msg {
	return c.toNext(dir, 1<<30, isPrompt) // that far up is the first one
}

func isPrompt(e *entry) bool {
	_, ok := e.m.Info.(*lathe.User)
	return ok && e.text() != ""
}
