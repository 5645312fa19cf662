// Package chat is the conversation on screen: messages and the cards of what tools do,
// scrolling, mouse selection, and for the inline screen what goes to the terminal's
// scrollback. What is finished is drawn once and kept; only what is open is drawn again.
// It does not know the engine: what it wants done it returns as a message.
//
// conversation.go holds the messages and puts them together; draw.go draws a message and
// card.go a tool call; scroll.go, selection.go and timeline.go move through it; flow.go is
// what the inline screen has handed to the scrollback.
package chat

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/look"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/picture"
	"lathe/internal/tui/styled"
)

// Conversation is the messages of the session on screen and how far the person
// scrolled.
type Conversation struct {
	entries Messages // by sequence
	byID    map[lathe.MessageID]*entry
	more    bool // there are older messages than these
	loading bool

	bottom bottom
	revert lathe.MessageID // messages from here on are undone

	pictures pictures
	spot     Spot // words that are sought

	look   func() look.Look // how to draw it in its place
	height int              // of that place, as of the last drawing
}

// bottom is the last entry on screen and how many of its lines show; a nil entry
// follows the newest text.
type bottom struct {
	e     *entry
	lines int
}

// index returns where in a list the last entry on screen is, and how many lines of it
// show.
func (b *bottom) index(list Messages, draw func(*entry) []styled.Line) (i, lines int) {
	if b.e != nil {
		if i = slices.Index(list, b.e); i >= 0 {
			return i, min(b.lines, len(draw(list[i])))
		}
		b.e = nil
	}
	if len(list) == 0 {
		return -1, 0
	}
	return len(list) - 1, len(draw(list[len(list)-1]))
}

// entry is a message and what was drawn of it.
type entry struct {
	m      lathe.Message
	pieces []*piece
	before *entry // the message before it

	lines []styled.Line
	fresh pen // what the lines were drawn with; zeroed when the content changes
	where []stretch
	note  note // remark on its state, such as queued
}

// stretch is which lines of an entry some pieces have: one, or several that share a line.
type stretch struct {
	from, to int
	pieces   []*piece
}

// at returns the pieces that have a line of the entry as drawn. shown is how many of its
// lines are shown: the first, blank one may be left out.
func (e *entry) at(line, shown int) []*piece {
	line += len(e.lines) - shown
	for _, s := range e.where {
		if line >= s.from && line < s.to {
			return s.pieces
		}
	}
	return nil
}

// piece is a part and what was drawn of it.
type piece struct {
	part   lathe.Part
	stream markdown.Stream
	lines  []styled.Line
	fresh  pen
	turned bool // the person folded or unfolded this one

	picture *picture.Picture
	asked   bool // the picture is being made ready
}

// New returns one without messages, which is drawn as look says.
func New(look func() look.Look) *Conversation {
	return &Conversation{byID: map[lathe.MessageID]*entry{}, look: look}
}

// Next returns one without messages in the same place.
func (c *Conversation) Next() *Conversation {
	n := New(c.look)
	n.height = c.height
	return n
}

// Resize says how many lines the conversation has on screen.
func (c *Conversation) Resize(height int) { c.height = height }

func (c *Conversation) pen() pen { return pen{c.look()} }

// Empty reports whether there is no message.
func (c *Conversation) Empty() bool { return len(c.entries) == 0 }

// Messages returns the messages that were read, with their parts as they are now.
func (c *Conversation) Messages() []lathe.Message {
	out := make([]lathe.Message, len(c.entries))
	for i, e := range c.entries {
		out[i] = e.m
		for _, p := range e.pieces {
			out[i].Parts = append(out[i].Parts, p.part)
		}
	}
	return out
}

// Height returns how many lines it has on screen.
func (c *Conversation) Height() int { return c.height }

// Reach goes to a message, and asks for older ones while it was not read. It
// reports whether the search is over.
func (c *Conversation) Reach(id lathe.MessageID) (want tea.Msg, over bool) {
	switch {
	case c.byID[id] != nil && c.spot.Message == id:
		c.toSpot()
	case c.byID[id] != nil:
		c.jump(id)
	case !c.more:
	case c.loading:
		return nil, false
	default:
		return c.older(), false
	}
	return nil, true
}

// Extend puts older messages before those that are there, as [Older] wanted; with
// an error there is nothing to put.
func (c *Conversation) Extend(list []lathe.Message, more bool, err error) {
	if err == nil {
		c.Load(list, more)
	}
	c.loading = false
}

// Written returns what was written in a message that was read.
func (c *Conversation) Written(id lathe.MessageID) edit.Written {
	if e := c.byID[id]; e != nil {
		return e.written()
	}
	return edit.Written{}
}

// Follow goes to the newest text and stays there.
func (c *Conversation) Follow() { c.bottom.e = nil }

// Following reports whether the newest text is on screen.
func (c *Conversation) Following() bool { return c.bottom.e == nil }

// Undo hides the messages from one on, or none for "".
func (c *Conversation) Undo(from lathe.MessageID) { c.revert = from }

// Undone returns the first message that is undone, or "".
func (c *Conversation) Undone() lathe.MessageID { return c.revert }

// Prompts returns what the person wrote, oldest first, including what was undone.
func (c *Conversation) Prompts() (out []string) {
	for _, e := range c.entries {
		if _, ok := e.m.Info.(*lathe.User); ok {
			out = append(out, strings.TrimSpace(e.text()))
		}
	}
	return out
}

// UndoneAnswers reports whether something that was answered is undone, and not prompts alone. An
// answer that was stopped before it began says nothing.
func (c *Conversation) UndoneAnswers() bool {
	return slices.ContainsFunc(c.entries, func(e *entry) bool {
		info, answer := e.m.Info.(*lathe.Assistant)
		if !answer || !c.Hides(e.m) {
			return false
		}
		_, stopped := info.Error.(*lathe.AbortedFailure)
		return !stopped || len(e.pieces) > 0
	})
}

// UndonePrompts returns what the person wrote in the messages that are undone, oldest first.
func (c *Conversation) UndonePrompts() (out []string) {
	for _, e := range c.entries {
		if _, ok := e.m.Info.(*lathe.User); ok && c.Hides(e.m) {
			if text := strings.TrimSpace(e.text()); text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

// Load puts messages, oldest first, before those that are there.
func (c *Conversation) Load(list []lathe.Message, more bool) {
	for _, m := range list {
		c.Message(m)
		for _, p := range m.Parts {
			c.Part(p)
		}
	}
	c.more, c.loading = more, false
}

// Message adds a message or changes its info.
func (c *Conversation) Message(m lathe.Message) {
	if e := c.byID[m.ID]; e != nil {
		m.Parts, m.Seq = nil, max(m.Seq, e.m.Seq)
		e.m, e.fresh = m, pen{}
		return
	}
	m.Parts = nil
	e := &entry{m: m}
	c.byID[m.ID] = e
	at := len(c.entries)
	for m.Seq > 0 && at > 0 && c.entries[at-1].m.Seq > m.Seq {
		at--
	}
	c.entries = slices.Insert(c.entries, at, e)
	c.entries.link(at)
	c.entries.link(at + 1)
}

// Part adds a part or changes it.
func (c *Conversation) Part(p lathe.Part) {
	e := c.byID[p.MessageID]
	if e == nil {
		return
	}
	e.fresh = pen{}
	for _, old := range e.pieces {
		if old.part.ID == p.ID {
			if p.Body = newer(old.part.Body, p.Body); p.Body != nil {
				old.part, old.fresh = p, pen{}
				c.pictures.want(old)
			}
			return
		}
	}
	at := len(e.pieces)
	for p.Seq > 0 && at > 0 && e.pieces[at-1].part.Seq > p.Seq {
		at--
	}
	e.pieces = slices.Insert(e.pieces, at, &piece{part: p})
	c.pictures.want(e.pieces[at])
}

// newer returns what is to be shown of a part that is there already, nil for what
// is there. An update sent before the part was read can be out of date: a closed
// part stays closed, and text does not get shorter.
func newer(have, next lathe.PartBody) lathe.PartBody {
	switch h := have.(type) {
	case *lathe.Text:
		if n, ok := next.(*lathe.Text); ok && open(n.Time) && strings.HasPrefix(h.Text, n.Text) && len(h.Text) > len(n.Text) {
			return nil
		}
	case *lathe.Reasoning:
		if n, ok := next.(*lathe.Reasoning); ok && open(n.Time) && strings.HasPrefix(h.Text, n.Text) && len(h.Text) > len(n.Text) {
			return nil
		}
	case *lathe.ToolCall:
		if n, ok := next.(*lathe.ToolCall); ok && ended(h.State) && !ended(n.State) {
			return nil
		}
	}
	return next
}

// open reports text that is streaming. Text that people wrote has no time at all.
func open(s lathe.Span) bool { return !s.Start.IsZero() && s.End.IsZero() }

func ended(st lathe.ToolState) bool {
	switch st.(type) {
	case *lathe.ToolDone, *lathe.ToolFailed:
		return true
	}
	return false
}

// Delta appends text to an open part, except for what it already has. The stored
// part is not changed, since others may hold it. It reports false when text before
// it is missing.
func (c *Conversation) Delta(d lathe.PartDelta) bool {
	e := c.byID[d.MessageID]
	if e == nil {
		return true
	}
	for _, p := range e.pieces {
		if p.part.ID != d.PartID {
			continue
		}
		body, whole := grown(p.part.Body, d)
		if body == nil {
			return whole
		}
		p.part.Body = body
		p.fresh, e.fresh = pen{}, pen{}
		return whole
	}
	return true
}

// grown returns a copy of an open part with a delta at its end, or nil if there
// is nothing to add; false means that text before the delta is missing.
func grown(b lathe.PartBody, d lathe.PartDelta) (lathe.PartBody, bool) {
	var text string
	switch b := b.(type) {
	case *lathe.Text:
		if !b.Time.End.IsZero() {
			return nil, true
		}
		text = b.Text
	case *lathe.Reasoning:
		if !b.Time.End.IsZero() {
			return nil, true
		}
		text = b.Text
	default:
		return nil, true
	}
	if d.End > 0 && d.End-len(d.Delta) > len(text) {
		return nil, false
	}
	if d = d.Beyond(len(text)); d.Delta == "" {
		return nil, true
	}
	switch b := b.(type) {
	case *lathe.Text:
		next := *b
		next.Text += d.Delta
		return &next, true
	case *lathe.Reasoning:
		next := *b
		next.Text += d.Delta
		return &next, true
	}
	return nil, true
}

func (c *Conversation) RemoveMessage(id lathe.MessageID) {
	at := slices.IndexFunc(c.entries, func(e *entry) bool { return e.m.ID == id })
	if at < 0 {
		return
	}
	c.entries = slices.Delete(c.entries, at, at+1)
	delete(c.byID, id)
	c.entries.link(at)
	if c.bottom.e != nil && c.bottom.e.m.ID == id {
		c.bottom.e = nil
	}
}

func (c *Conversation) RemovePart(m lathe.MessageID, id lathe.PartID) {
	if e := c.byID[m]; e != nil {
		e.pieces = slices.DeleteFunc(e.pieces, func(p *piece) bool { return p.part.ID == id })
		e.fresh = pen{}
	}
}

// Shown returns the messages that are shown: those that were not undone.
func (c *Conversation) Shown() Messages {
	if c.revert != "" {
		if i := slices.IndexFunc(c.entries, func(e *entry) bool { return e.m.ID == c.revert }); i >= 0 {
			return c.entries[:i]
		}
	}
	return c.entries
}

// place is a line of an entry.
type place struct {
	e    *entry
	line int
}

// screen returns the lines that fit into the height, and where they are from.
// Only entries that are on screen are drawn.
func (c *Conversation) screen() ([]styled.Line, []place) {
	list, draw, height := c.Shown(), c.pen().draw, c.height
	i, n := c.bottom.index(list, draw)
	var parts [][]styled.Line
	var from []place
	left := height
	for ; i >= 0 && left > 0; i-- {
		lines := draw(list[i])
		if n >= 0 {
			lines, n = lines[:n], -1
		}
		skip := max(0, len(lines)-left)
		parts = append(parts, lines[skip:])
		from = append(from, place{list[i], skip})
		left -= len(lines) - skip
	}
	out, places := make([]styled.Line, 0, height), make([]place, 0, height)
	for k, p := range slices.Backward(parts) {
		for j, line := range p {
			out = append(out, line)
			places = append(places, place{from[k].e, from[k].line + j})
		}
	}
	return out, places
}

// Older wants the messages before the oldest one.
type Older struct{ Before int64 }

// Scroll moves by lines, up for negative ones, and asks for older messages when
// they are needed.
func (c *Conversation) Scroll(by int) tea.Msg {
	if !c.move(by) || c.loading {
		return nil
	}
	return c.older()
}

// older asks for older messages.
func (c *Conversation) older() tea.Msg {
	c.loading = true
	return Older{c.entries.oldest()}
}

// move moves by lines, and reports whether older messages are needed.
func (c *Conversation) move(by int) (older bool) {
	list, draw, height := c.Shown(), c.pen().draw, c.height
	i, n := c.bottom.index(list, draw)
	if i < 0 {
		return false
	}
	n += by
	for n <= 0 && i > 0 {
		i--
		n += len(draw(list[i]))
	}
	for i < len(list) && n > len(draw(list[i])) {
		n -= len(draw(list[i]))
		i++
	}
	if i == len(list) || i == len(list)-1 && n == len(draw(list[i])) {
		c.bottom.e = nil
		return false
	}
	// Keep the first page full.
	above, j := n, i-1
	for ; j >= 0 && above < height; j-- {
		above += len(draw(list[j]))
	}
	if short := height - above; short > 0 && j < 0 {
		older = c.more
		n += short
		for i < len(list) && n > len(draw(list[i])) {
			n -= len(draw(list[i]))
			i++
		}
		if i == len(list) {
			c.bottom.e = nil
			return older
		}
	}
	c.bottom.e, c.bottom.lines = list[i], n
	return older || by < 0 && c.more && j < 2
}

// Reading is how far into the last entry on screen the person has read, from 0 to
// 1; 0 at the newest text.
func (c *Conversation) Reading() float64 {
	if c.bottom.e == nil {
		return 0
	}
	return float64(c.bottom.lines) / float64(max(1, len(c.pen().draw(c.bottom.e))))
}

// ReadOn goes to that place again, after the width changed.
func (c *Conversation) ReadOn(part float64) {
	if c.bottom.e != nil {
		c.bottom.lines = max(1, int(part*float64(len(c.pen().draw(c.bottom.e)))+0.5))
	}
}

// jump brings an entry to the top of the screen.
func (c *Conversation) jump(id lathe.MessageID) {
	list := c.Shown()
	i := slices.IndexFunc(list, func(e *entry) bool { return e.m.ID == id })
	if i < 0 {
		return
	}
	c.bottom.e, c.bottom.lines = list[i], min(1, len(c.pen().draw(list[i])))
	c.move(c.height - 1)
}

// text returns what was written in a message, without what lathe added.
func (e *entry) text() string { return e.written().Text }

// written returns the text, and what of it was pasted.
func (e *entry) written() edit.Written {
	var words []edit.Written
	for _, p := range e.pieces {
		if t, ok := p.part.Body.(*lathe.Text); ok && !t.Synthetic && strings.TrimSpace(t.Text) != "" {
			words = append(words, edit.Written{Text: t.Text, Pasted: pasted(t)})
		}
	}
	return edit.Join(words)
}
