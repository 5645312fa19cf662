package chat

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/keys"
)

// Act carries out an action that scrolls, and reports whether it is one.
func (c *Conversation) Act(act keys.Action) (tea.Msg, bool) {
	page := max(1, c.height-2)
	switch act {
	case keys.PageUp:
		return c.Scroll(-page), true
	case keys.PageDown:
		return c.Scroll(page), true
	case keys.HalfUp:
		return c.Scroll(-page / 2), true
	case keys.HalfDown:
		return c.Scroll(page / 2), true
	case keys.LineUp:
		return c.Scroll(-1), true
	case keys.LineDown:
		return c.Scroll(1), true
	case keys.First:
		return c.Scroll(-1 << 30), true
	case keys.Last:
		c.Follow()
		return nil, true
	}
	return nil, false
}

// ToMessage scrolls to the next message, the one before, or for 0 to the
// person's last one.
func (c *Conversation) ToMessage(dir int) tea.Msg {
	if dir == 0 {
		for _, e := range slices.Backward(c.Shown()) {
			if isPrompt(e) {
				c.jump(e.m.ID)
				return nil
			}
		}
		return nil
	}
	return c.toNext(dir, c.height, func(e *entry) bool { return e.text() != "" })
}

// toNext scrolls to the next entry of a kind, or for -1 to the one before; if there is
// none, up by so many lines, which reads older ones if there are any.
func (c *Conversation) toNext(dir, up int, is func(*entry) bool) tea.Msg {
	list, draw := c.Shown(), c.pen().draw
	i, shown := c.bottom.index(list, draw)
	y := c.height - shown // the line on screen where the entry begins
	var next *entry
	for ; i >= 0; i-- {
		if is(list[i]) {
			if dir > 0 && y > 0 {
				next = list[i]
			} else if dir < 0 && y < 0 {
				c.jump(list[i].m.ID)
				return nil
			}
		}
		if i > 0 {
			y -= len(draw(list[i-1]))
		}
	}
	switch {
	case dir < 0:
		return c.Scroll(-up)
	case next == nil:
		c.Follow()
	default:
		c.jump(next.m.ID)
	}
	return nil
}
