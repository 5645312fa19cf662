package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

func notInline(a *App) bool { return !a.opts.Inline }

// barWidth returns how many columns the scroll bar takes.
func (a *App) barWidth() int {
	if !a.prefs.Scrollbar || a.opts.Inline || a.session.ID == "" {
		return 0
	}
	return 1
}

func (a *App) toggleScrollbar() tea.Cmd {
	a.widen(func() { a.prefs.Scrollbar = !a.prefs.Scrollbar })
	return a.remember()
}

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
func (c *conversation) extent(l pen, height int) (above, total int) {
	list := c.visible()
	at, lines := c.index(list, l.draw)
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
	return max(0, bottom-height), total
}

// thumb returns where the handle of the bar begins and how long it is; a length of
// 0 says that all is on screen.
func (c *conversation) thumb(l pen, height int) (from, length int) {
	above, total := c.extent(l, height)
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

// barLines draws the scroll bar.
func (a *App) barLines(height int) []styled.Line {
	l := a.pane()
	from, length := a.conv.thumb(l, height)
	track := styled.Line{{Text: l.Glyph("│", "|"), Style: l.FG(theme.Border)}}
	handle := styled.Line{{Text: l.Glyph("┃", "#"), Style: l.FG(theme.Primary)}}
	out := make([]styled.Line, height)
	for y := range out {
		switch {
		case length == 0 && a.sidebar() == 0:
			out[y] = styled.Plain(" ")
		case y >= from && y < from+length:
			out[y] = handle
		default:
			out[y] = track
		}
	}
	return out
}

// dragBar goes to where the person holds the bar.
func (a *App) dragBar(y int) tea.Cmd {
	l, height := a.pane(), a.scrollTop
	_, total := a.conv.extent(l, height)
	switch {
	case total <= height || height < 2:
		return nil
	case y <= 0:
		return a.scroll(-1 << 30)
	case y >= height-1:
		a.conv.bottom.e = nil
		return nil
	}
	bottom := height + y*(total-height)/(height-1)
	for _, e := range a.conv.visible() {
		if n := e.height(l); bottom > n {
			bottom -= n
			continue
		}
		a.conv.bottom.e, a.conv.bottom.lines = e, max(1, min(bottom, len(l.draw(e))))
		return a.scroll(0)
	}
	a.conv.bottom.e = nil
	return nil
}
