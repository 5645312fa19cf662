package chat

import (
	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// height returns how many lines an entry has: exactly, if it was drawn; else about
// as many, since a bar is not worth drawing thousands of messages for.
func (e *entry) height(l pen) int {
	if e.fresh == l || len(e.lines) > 0 {
		return len(e.lines)
	}
	n := 1
	for _, p := range e.pieces {
		switch b := p.part.Body.(type) {
		case *lathe.Text:
			n += 2 + len(b.Text)/max(20, l.Width)
		case *lathe.Reasoning, *lathe.ToolCall:
			n += 2
		}
	}
	return n
}

// extent returns how many lines there are above the screen, and in all.
func (c *Conversation) extent(l pen) (above, total int) {
	list := c.Shown()
	at, lines := c.bottom.index(list, l.draw)
	bottom := 0
	for i, e := range list {
		n := e.height(l)
		if i < at {
			bottom += n
		} else if i == at {
			bottom += lines
		}
		total += n
	}
	return max(0, bottom-c.height), total
}

// thumb returns where the handle of the bar begins and how long it is; a length of
// 0 means that everything is on screen.
func (c *Conversation) thumb() (from, length int) {
	above, total := c.extent(c.pen())
	height := c.height
	if total <= height || height < 2 {
		return 0, 0
	}
	length = max(1, height*height/total)
	room := height - length
	switch {
	case c.bottom.e == nil:
		return room, length
	case above == 0 && !c.more:
		return 0, length
	}
	from = (above*room + (total-height)/2) / (total - height)
	return max(min(1, room), min(from, room)), length // older messages may follow: the top is not reached
}

// BarLines draws the scroll bar. If everything is on screen it is left out,
// unless it is a border.
func (c *Conversation) BarLines(border bool) []styled.Line {
	l := c.pen()
	from, length := c.thumb()
	track := styled.Line{{Text: l.Glyph("│", "|"), Style: l.FG(theme.Border)}}
	handle := styled.Line{{Text: l.Glyph("┃", "#"), Style: l.FG(theme.Primary)}}
	out := make([]styled.Line, c.height)
	for y := range out {
		switch {
		case length == 0 && !border:
			out[y] = styled.Plain(" ")
		case y >= from && y < from+length:
			out[y] = handle
		default:
			out[y] = track
		}
	}
	return out
}

// DragBar scrolls to where the person drags the bar.
func (c *Conversation) DragBar(y int) tea.Msg {
	l, height := c.pen(), c.height
	_, total := c.extent(l)
	switch {
	case total <= height || height < 2:
		return nil
	case y <= 0:
		return c.Scroll(-1 << 30)
	case y >= height-1:
		c.Follow()
		return nil
	}
	bottom := height + y*(total-height)/(height-1)
	for _, e := range c.Shown() {
		if n := e.height(l); bottom > n {
			bottom -= n
			continue
		}
		c.bottom.e, c.bottom.lines = e, max(1, min(bottom, len(l.draw(e))))
		return c.Scroll(0)
	}
	c.Follow()
	return nil
}
