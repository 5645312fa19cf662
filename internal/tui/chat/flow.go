package chat

import (
	"slices"

	"lathe"
	"lathe/internal/tui/look"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Flow is the part of a session that the inline screen has handed to the
// terminal's own scrollback, where it can no longer change.
type Flow struct {
	session lathe.SessionID
	begun   bool
	done    map[lathe.MessageID]bool
	pieces  map[lathe.PartID]int // bytes of an open text; -1: all of the piece
	card    bool                 // the last line is a tool call of one line
}

// Heading is what the scrollback shows where a session begins.
type Heading struct {
	Session  lathe.SessionID // empty: a new one
	Title    string          // empty: it has none yet
	Greeting string          // of the screen itself, told once
}

// Take returns the lines that are final since it was called last. They are shown
// once, above the region that is drawn again.
func (f *Flow) Take(c *Conversation, h Heading) []styled.Line {
	l := c.pen()
	var out []styled.Line
	if !f.begun || f.session != h.Session {
		out = f.begin(c, l, h)
	}
	for _, e := range c.Shown() {
		if f.done[e.m.ID] {
			continue
		}
		lines, done := f.entry(l, e)
		out = append(out, lines...)
		if !done {
			break
		}
		f.done[e.m.ID] = true
	}
	return out
}

// begin draws the beginning of a session.
func (f *Flow) begin(c *Conversation, l pen, h Heading) []styled.Line {
	made := f.begun && f.session == "" && h.Session != "" && len(c.entries) < 2 // the session was made by what was just sent
	first := !f.begun
	*f = Flow{session: h.Session, begun: true, done: map[lathe.MessageID]bool{}, pieces: map[lathe.PartID]int{}}
	switch {
	case made:
		return nil
	case h.Session == "" && first:
		return []styled.Line{styled.Plain("lathe "+lathe.Version+l.Glyph(" · ", " - ")+h.Greeting, l.FG(theme.Muted)).Cut(l.Width, l.Method)}
	case h.Session == "":
		return []styled.Line{nil, l.Divider("new session")}
	}
	title := look.Or(h.Title, "session")
	return []styled.Line{nil, styled.Plain(" "+l.Glyph("──", "--")+" "+title+" "+l.Glyph("──", "--"), l.FG(theme.Muted)).Cut(l.Width, l.Method)}
}

// entry returns what is final of an entry and was not shown, and whether that is
// all there will be. Remarks on its state may change, so they are not final.
func (f *Flow) entry(l pen, e *entry) (out []styled.Line, done bool) {
	info, ok := e.m.Info.(*lathe.Assistant)
	if !ok {
		if e.note == queued || slices.ContainsFunc(e.pieces, func(p *piece) bool { return p.asked }) {
			return nil, false
		}
		f.card = false
		if e.note != "" {
			e = &entry{m: e.m, pieces: e.pieces, before: e.before}
		}
		return l.drawn(e), true
	}
	for _, p := range e.pieces {
		lines, final := f.piece(l, p, info)
		out = append(out, lines...)
		if !final {
			return l.cut(out), false
		}
	}
	if info.Completed.IsZero() && info.Error == nil {
		return l.cut(out), false
	}
	tail := l.assistant(&entry{m: e.m, before: e.before}, info)
	if l.answered(e) && len(tail) == 0 {
		tail = l.footer(e, info)
	}
	if len(tail) > 0 {
		f.card = false
	}
	return l.cut(append(out, tail...)), true
}

// answered reports whether anything of an entry was shown.
func (l pen) answered(e *entry) bool {
	return slices.ContainsFunc(e.pieces, func(p *piece) bool { return len(l.piece(p)) > 0 })
}

func (l pen) cut(lines []styled.Line) []styled.Line {
	for i, line := range lines {
		lines[i] = line.Cut(l.Width, l.Method)
	}
	return lines
}

// piece returns what is final of a piece and was not shown.
func (f *Flow) piece(l pen, p *piece, info *lathe.Assistant) (out []styled.Line, final bool) {
	shown := f.pieces[p.part.ID]
	if shown < 0 {
		return nil, true
	}
	final = closed(p) || info.Error != nil || !info.Completed.IsZero()
	text, streams := p.part.Body.(*lathe.Text)
	lines := l.piece(p)
	switch {
	case streams && !final:
		settled := p.stream.Settled()
		if settled <= shown {
			return nil, false
		}
		lines = l.rendered(styled.Clean(text.Text)[shown:settled])
		f.pieces[p.part.ID] = settled
	case !final:
		return nil, false
	case streams && shown > 0:
		lines = l.rendered(styled.Clean(text.Text)[min(shown, len(styled.Clean(text.Text))):])
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
func (l pen) rendered(text string) []styled.Line {
	return l.Indent(markdown.Render(text, l.Width-4, l.MD, l.Method))
}

// closed reports whether a piece will no longer change.
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

// Open returns the end of what was not handed to the scrollback, and remarks on
// what was.
func (f *Flow) Open(c *Conversation, most int) []styled.Line {
	l := c.pen()
	var out []styled.Line
	for _, e := range c.Shown() {
		_, answer := e.m.Info.(*lathe.Assistant)
		switch {
		case f.done[e.m.ID]:
			if e.note != "" {
				out = append(append(out, nil), l.standing(e)...)
			}
		case !answer:
			out = append(out, l.drawn(e)...)
		default:
			for _, p := range e.pieces {
				out = append(out, f.openPiece(l, p)...)
			}
			if e.note != "" {
				out = append(append(out, nil), l.standing(e)...)
			}
		}
	}
	return out[max(0, len(out)-most):]
}

func (f *Flow) openPiece(l pen, p *piece) []styled.Line {
	shown := f.pieces[p.part.ID]
	if shown < 0 {
		return nil
	}
	lines := l.piece(p)
	if text, ok := p.part.Body.(*lathe.Text); ok && shown > 0 {
		lines = l.rendered(styled.Clean(text.Text)[shown:])
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]styled.Line{nil}, lines...)
}
