package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// flowed is what of a session the inline screen has handed to the terminal's own
// scrollback, where it cannot change any more.
type flowed struct {
	session lathe.SessionID
	begun   bool
	done    map[lathe.MessageID]bool
	pieces  map[lathe.PartID]int // bytes of an open text; -1: all of the piece
	card    bool                 // the last line is a tool call of one line
}

// flow returns the lines that are final since it was called last. They are shown
// once, above the region that is drawn anew.
func (a *App) flow() []styled.Line {
	f := &a.flowed
	var out []styled.Line
	if !f.begun || f.session != a.session.ID {
		out = a.flowBegin()
	}
	a.conv.queue(a.busy(), time.Time{})
	for _, e := range a.conv.visible() {
		if f.done[e.m.ID] {
			continue
		}
		lines, done := a.flowEntry(e)
		out = append(out, lines...)
		if !done {
			break
		}
		f.done[e.m.ID] = true
	}
	for i, line := range out {
		out[i] = a.fitted(line)
	}
	return out
}

// flowBegin tells where a session begins.
func (a *App) flowBegin() []styled.Line {
	l, f := a.look, &a.flowed
	made := f.begun && f.session == "" && a.session.ID != "" && len(a.conv.entries) < 2 // by what was just sent
	first := !f.begun
	*f = flowed{session: a.session.ID, begun: true, done: map[lathe.MessageID]bool{}, pieces: map[lathe.PartID]int{}}
	switch {
	case made:
		return nil
	case a.session.ID == "" && first:
		return []styled.Line{styled.Plain("lathe "+lathe.Version+l.Glyph(" · ", " - ")+a.keys.For("help_show")+" shows all keys", l.FG(theme.Muted)).Cut(l.Width, l.Method)}
	case a.session.ID == "":
		return []styled.Line{nil, l.Divider("new session")}
	}
	title := a.title()
	if title == "" {
		title = "session"
	}
	return []styled.Line{nil, styled.Plain(" "+l.Glyph("──", "--")+" "+title+" "+l.Glyph("──", "--"), l.FG(theme.Muted)).Cut(l.Width, l.Method)}
}

// flowEntry returns what is final of an entry and was not shown, and whether that
// is all there will be.
func (a *App) flowEntry(e *entry) (out []styled.Line, done bool) {
	info, ok := e.m.Info.(*lathe.Assistant)
	if !ok {
		if e.note == queued || slices.ContainsFunc(e.pieces, func(p *piece) bool { return p.asked }) {
			return nil, false
		}
		a.flowed.card = false
		return a.pane().drawn(e), true
	}
	for _, p := range e.pieces {
		lines, final := a.flowPiece(p, info)
		out = append(out, lines...)
		if !final {
			return a.cut(out), false
		}
	}
	if info.Completed.IsZero() && info.Error == nil {
		return a.cut(out), false
	}
	tail := pen{a.look}.assistant(&entry{m: e.m, before: e.before}, info)
	if a.answered(e) && len(tail) == 0 {
		tail = pen{a.look}.footer(e, info)
	}
	if len(tail) > 0 {
		a.flowed.card = false
	}
	return a.cut(append(out, tail...)), true
}

// answered reports whether anything of an entry was shown.
func (a *App) answered(e *entry) bool {
	for _, p := range e.pieces {
		if len(pen{a.look}.piece(p)) > 0 {
			return true
		}
	}
	return false
}

func (a *App) cut(lines []styled.Line) []styled.Line {
	for i, line := range lines {
		lines[i] = line.Cut(a.look.Width, a.look.Method)
	}
	return lines
}

// flowPiece returns what is final of a piece and was not shown.
func (a *App) flowPiece(p *piece, info *lathe.Assistant) (out []styled.Line, final bool) {
	f, l := &a.flowed, a.look
	shown := f.pieces[p.part.ID]
	if shown < 0 {
		return nil, true
	}
	final = closed(p) || info.Error != nil || !info.Completed.IsZero()
	text, streams := p.part.Body.(*lathe.Text)
	lines := pen{l}.piece(p)
	switch {
	case streams && !final:
		settled := p.stream.Settled()
		if settled <= shown {
			return nil, false
		}
		lines = a.rendered(styled.Clean(text.Text)[shown:settled])
		f.pieces[p.part.ID] = settled
	case !final:
		return nil, false
	case streams && shown > 0:
		lines = a.rendered(styled.Clean(text.Text)[min(shown, len(styled.Clean(text.Text))):])
		f.pieces[p.part.ID] = -1
	default:
		f.pieces[p.part.ID] = -1
	}
	if len(lines) == 0 {
		return nil, final
	}
	one := len(lines) == 1 && isCard(p)
	if !(one && f.card) {
		out = append(out, nil)
	}
	f.card = one
	return append(out, lines...), final
}

// rendered draws Markdown that is final.
func (a *App) rendered(text string) []styled.Line {
	return a.look.Indent(markdown.Render(text, a.look.Width-4, a.look.MD, a.look.Method))
}

// closed reports a piece that will not change.
func closed(p *piece) bool {
	if p.asked {
		return false
	}
	switch b := p.part.Body.(type) {
	case *lathe.Text:
		return !b.Time.End.IsZero()
	case *lathe.Reasoning:
		return !b.Time.End.IsZero()
	case *lathe.ToolCall:
		switch b.State.(type) {
		case *lathe.ToolDone, *lathe.ToolFailed:
			return true
		}
		return false
	}
	return true
}

// region returns what is still open, and the input below it.
func (a *App) region() paint.Region {
	bottom, x, y := a.bottom()
	open := a.openLines(max(0, a.height-len(bottom)-1))
	a.scrollTop, a.mouse.shown = len(open), nil
	r := paint.Region{Title: a.windowTitle()}
	for _, line := range append(open, bottom...) {
		r.Lines = append(r.Lines, a.fitted(line.Cut(a.look.Width, a.look.Method)))
	}
	if x >= 0 && y >= 0 {
		r.Cursor = tea.NewCursor(min(x, a.look.Width-1), len(open)+y)
	}
	return r
}

// openLines returns the end of what was not handed to the scrollback.
func (a *App) openLines(most int) []styled.Line {
	f := &a.flowed
	var out []styled.Line
	for _, e := range a.conv.visible() {
		if f.done[e.m.ID] {
			continue
		}
		if _, ok := e.m.Info.(*lathe.Assistant); !ok {
			out = append(out, a.pane().drawn(e)...)
			continue
		}
		for _, p := range e.pieces {
			out = append(out, a.openPiece(p)...)
		}
	}
	if a.conv.revert != "" {
		out = append(out, nil, a.undoneNote())
	}
	return out[max(0, len(out)-most):]
}

func (a *App) openPiece(p *piece) []styled.Line {
	shown := a.flowed.pieces[p.part.ID]
	if shown < 0 {
		return nil
	}
	lines := pen{a.look}.piece(p)
	if text, ok := p.part.Body.(*lathe.Text); ok && shown > 0 {
		lines = a.rendered(styled.Clean(text.Text)[shown:])
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]styled.Line{nil}, lines...)
}
