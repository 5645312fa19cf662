package tui

import (
	"lathe/internal/tui/chat"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/styled"
)

// flow returns the lines that are final since it was called last. They are shown
// once, above the region that is drawn again.
func (v *view) flow() []styled.Line {
	v.conv.Queue(v.busy(), v.opts.Now())
	out := v.flowed.Take(v.conv, chat.Heading{Session: v.session.ID, Title: v.title(), Greeting: v.keys.For(keys.Help) + " shows all keys"})
	for i, line := range out {
		out[i] = v.style.Fitted(line)
	}
	return out
}

// region returns what is still open, and the input below it.
func (v *view) region() paint.Region {
	v.conv.Queue(v.busy(), v.opts.Now())
	bottom, x, y := v.bottom()
	most := max(0, v.height-len(bottom)-1)
	open := v.flowed.Open(v.conv, most)
	if v.conv.Undone() != "" {
		open = append(open, nil, v.undoneNote())
		open = open[max(0, len(open)-most):]
	}
	v.conv.Resize(len(open))
	v.mouse.Blind()
	r := paint.Region{Title: v.windowTitle(), Progress: v.progress()}
	for _, line := range append(open, bottom...) {
		r.Lines = append(r.Lines, v.style.Fitted(line.Cut(v.look.Width, v.look.Method)))
	}
	if x >= 0 && y >= 0 {
		r.Cursor = v.cursor(min(x, v.look.Width-1), len(open)+y)
	}
	return r
}
