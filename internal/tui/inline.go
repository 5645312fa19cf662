package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/chat"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/styled"
)

// flow returns the lines that are final since it was called last. They are shown
// once, above the region that is drawn anew.
func (a *App) flow() []styled.Line {
	a.conv.Queue(a.busy(), a.opts.Now())
	out := a.flowed.Take(a.conv, chat.Heading{Session: a.session.ID, Title: a.title(), Greeting: a.keys.For(keys.Help) + " shows all keys"})
	for i, line := range out {
		out[i] = a.style.Fitted(line)
	}
	return out
}

// region returns what is still open, and the input below it.
func (a *App) region() paint.Region {
	a.conv.Queue(a.busy(), a.opts.Now())
	bottom, x, y := a.bottom()
	most := max(0, a.height-len(bottom)-1)
	open := a.flowed.Open(a.conv, most)
	if a.conv.Undone() != "" {
		open = append(open, nil, a.undoneNote())
		open = open[max(0, len(open)-most):]
	}
	a.conv.Resize(len(open))
	a.mouse.Blind()
	r := paint.Region{Title: a.windowTitle()}
	for _, line := range append(open, bottom...) {
		r.Lines = append(r.Lines, a.style.Fitted(line.Cut(a.look.Width, a.look.Method)))
	}
	if x >= 0 && y >= 0 {
		r.Cursor = tea.NewCursor(min(x, a.look.Width-1), len(open)+y)
	}
	return r
}
