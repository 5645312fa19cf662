package chat

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/styled"
)

// Selection is what the person does with the mouse in the conversation: they select
// text by dragging, which copies it, and open things by a click.
type Selection struct {
	Files      bool    // a file can be opened by a click on its name
	shown      []place // what the rows of the conversation show, as of the last drawing
	pressed    bool
	dragged    bool
	bar        bool  // the scroll bar is being dragged
	from, till point // of the selection
}

// point is a cell of the conversation, which stays valid when text moves.
type point struct {
	place
	col int
}

// pointAt returns the cell at a place on screen.
func (s *Selection) pointAt(x, y int) (point, bool) {
	if n := len(s.shown); n == 0 || y < 0 {
		return point{}, false
	} else if y >= n {
		y = n - 1
	}
	return point{s.shown[y], max(x, 0)}, true
}

// What a click wants.
type (
	// OpenSession opens a session.
	OpenSession struct{ ID lathe.SessionID }
	// EditFile opens a file in the person's own editor.
	EditFile struct{ Name string }
)

// Press begins a selection.
func (s *Selection) Press(x, y int) {
	if p, ok := s.pointAt(x, y); ok {
		s.pressed, s.from, s.till = true, p, p
	}
}

// Drop forgets what was selected.
func (s *Selection) Drop() {
	s.pressed, s.dragged = false, false
	s.from, s.till = point{}, point{}
}

// Hold begins to drag the scroll bar.
func (s *Selection) Hold() { s.pressed, s.bar = true, true }

// Held reports whether the mouse is pressed in the conversation.
func (s *Selection) Held() bool { return s.pressed }

// See draws the visible part of a conversation, with the selection reversed.
func (s *Selection) See(c *Conversation) []styled.Line {
	lines, places := c.screen()
	c.underline(lines)
	s.highlight(c.pen(), lines, places)
	s.shown = places
	return lines
}

// Scrolled says that the first lines of what was drawn are covered.
func (s *Selection) Scrolled(by int) { s.shown = s.shown[min(by, len(s.shown)):] }

// Blind says that nothing on screen can be selected now.
func (s *Selection) Blind() { s.shown = nil }

// Drag extends the selection; at the edges the conversation scrolls.
func (s *Selection) Drag(c *Conversation, x, y int) tea.Msg {
	if s.bar {
		return c.DragBar(y)
	}
	p, ok := s.pointAt(x, min(y, c.height-1))
	if !ok {
		return nil
	}
	if p.col > s.from.col && p.place == s.from.place {
		p.col++ // the cell under the pointer belongs to it
	}
	s.dragged = s.dragged || p != s.from
	s.till = p
	switch {
	case y <= 0:
		return c.Scroll(-1)
	case y >= c.height-1 && !c.Following():
		return c.Scroll(1)
	}
	return nil
}

// Release copies what was selected, or opens what was clicked.
func (s *Selection) Release(c *Conversation) tea.Msg {
	s.pressed = false
	if s.bar {
		s.bar = false
		return nil
	}
	if !s.dragged {
		p := s.from
		s.from, s.till = point{}, point{}
		return s.openAt(c, p)
	}
	if text := s.selected(c); text != "" {
		return dialog.Copy{Text: text, Said: "copied what you selected"}
	}
	return nil
}

// openAt opens what is at a point: the session of a subagent, the file of a
// tool in the person's editor, or else a card folds or unfolds.
func (s *Selection) openAt(conv *Conversation, at point) tea.Msg {
	if at.e == nil {
		return nil
	}
	pieces := at.e.at(at.line, len(conv.pen().draw(at.e)))
	switch len(pieces) {
	case 0:
		return nil
	case 1:
		if m, done := s.openPiece(conv, pieces[0], at); done {
			return m
		}
	}
	conv.turn(at.place, pieces)
	return nil
}

// turn folds or unfolds pieces that share a line on screen, whose first line stays where it
// is: the person looks there.
func (c *Conversation) turn(at place, pieces []*piece) {
	_, shown := c.screen()
	row := slices.Index(shown, at)
	line := func() int {
		drawn := len(c.pen().draw(at.e))
		for _, s := range at.e.where {
			if slices.Contains(s.pieces, pieces[0]) {
				return max(0, s.from-len(at.e.lines)+drawn)
			}
		}
		return at.line
	}
	row = max(0, row-(at.line-line()))
	for _, p := range pieces {
		p.turned, p.fresh = !p.turned, pen{}
	}
	at.e.fresh = pen{}
	c.bottom.e, c.bottom.lines = at.e, line()+1
	c.move(c.height - 1 - row)
}

// openPiece opens what a piece leads to; false means that it folds or unfolds.
func (s *Selection) openPiece(conv *Conversation, p *piece, at point) (want tea.Msg, done bool) {
	switch b := p.part.Body.(type) {
	case *lathe.ToolCall:
		c := newCall(b)
		if id, ok := c.meta["sessionId"].(string); ok && id != "" {
			return OpenSession{lathe.SessionID(id)}, true
		}
		if file := s.fileAt(conv.pen(), c, p, at); file != "" {
			return EditFile{file}, true
		}
		return nil, false
	case *lathe.Reasoning:
		return nil, false
	case *lathe.Text:
		_, user := at.e.m.Info.(*lathe.User)
		return nil, !user
	}
	return nil, true
}

// fileAt returns the file whose name was clicked in the head of a card.
func (s *Selection) fileAt(l pen, c call, p *piece, at point) string {
	switch c.name {
	case "read", "edit", "write", "multiedit":
	default:
		return ""
	}
	lines := l.draw(at.e)
	if len(p.lines) == 0 || !sameLine(lines[at.line], p.lines[0]) || !s.Files {
		return ""
	}
	begin := styled.Width(cardMark, l.Method) + 2 + styled.Width(c.verb(), l.Method) + 1
	if at.col < begin || at.col >= begin+styled.Width(styled.OneLine(c.headline()), l.Method) {
		return ""
	}
	return c.arg("filePath", "path")
}

func sameLine(x, y styled.Line) bool { return len(x) > 0 && len(y) > 0 && &x[0] == &y[0] }

// text returns the columns between which a line's text stands, without what is drawn in
// front of it, and how it continues the line before. Of columns that stand next to each other
// it is the one at a place.
func (l pen) text(line styled.Line, at int) (begin, end int, cont styled.Cont) {
	begin, cont = l.body(line)
	end = l.Width
	col := 0
	for _, s := range line {
		switch s.Cont {
		case styled.Beside:
			if at < col {
				return begin, col, cont
			}
		case styled.Begin:
			begin, cont = col, styled.Own
		case styled.End:
			end = col
		}
		col += styled.Width(s.Text, l.Method)
	}
	return begin, end, cont
}

// body returns the column where a line's text begins, after what is drawn in
// front of it, and how it continues the line before.
func (l pen) body(line styled.Line) (col int, cont styled.Cont) {
	bars := l.Glyph("│┊▌", "|:")
	at, gap := 0, false
	for i, s := range line {
		if strings.Trim(s.Text, " "+bars) != "" {
			if s.Cont == styled.Blank || s.Cont == styled.Within {
				col = at
			}
			return col, s.Cont
		}
		at += styled.Width(s.Text, l.Method)
		bar := strings.ContainsAny(s.Text, bars)
		if i == 0 && s.Cont == styled.Own || bar || gap && s.Text == " " {
			col = at
		}
		gap = bar && !strings.HasSuffix(s.Text, " ") // the blank after it has the colour of a panel
	}
	return col, styled.Own
}

// ends returns the selection in reading order.
func (s *Selection) ends() (from, till point, ok bool) {
	from, till = s.from, s.till
	if !s.dragged || from.e == nil || till.e == nil {
		return from, till, false
	}
	if before(till, from) {
		from, till = till, from
	}
	return from, till, true
}

func before(x, y point) bool {
	if x.e != y.e {
		for e := y.e.before; e != nil; e = e.before {
			if e == x.e {
				return true
			}
		}
		return false
	}
	return x.line < y.line || x.line == y.line && x.col < y.col
}

// columns returns which cells of a line are selected.
func columns(at place, from, till point, width int) (a, b int) {
	b = width
	if at == from.place {
		a = from.col
	}
	if at == till.place {
		b = till.col
	}
	return a, b
}

// highlight draws the selection over the lines on screen.
func (s *Selection) highlight(l pen, lines []styled.Line, places []place) {
	from, till, ok := s.ends()
	if !ok {
		return
	}
	for i, at := range places {
		p := point{at, 0}
		if at != from.place && before(p, from) || at != till.place && before(till, p) {
			continue
		}
		x, y := columns(at, from, till, l.Width)
		begin, end, _ := l.text(lines[i], s.from.col)
		lines[i], _ = lines[i].Between(max(x, begin), min(y, end), l.Method, styled.Reverse)
	}
}

// selected returns the text that is selected. Lines that were broken to fit are
// joined again.
func (s *Selection) selected(c *Conversation) string {
	from, till, ok := s.ends()
	if !ok {
		return ""
	}
	var out []string
	list, l := c.Shown(), c.pen()
	first, last := slices.Index(list, from.e), slices.Index(list, till.e)
	if first < 0 || last < first {
		return ""
	}
	for _, e := range list[first : last+1] {
		for i, line := range l.draw(e) {
			p := point{place{e, i}, 0}
			if p.place != from.place && before(p, from) || p.place != till.place && before(till, p) {
				continue
			}
			x, y := columns(p.place, from, till, l.Width)
			begin, end, cont := l.text(line, s.from.col)
			_, text := line.Between(max(x, begin), min(y, end), l.Method, "")
			if n := len(out) - 1; n >= 0 && cont != styled.Own { // it continues the line before
				if cont == styled.Blank {
					out[n] = strings.TrimRight(out[n], " ") + " "
				}
				out[n] += text
				continue
			}
			out = append(out, text)
		}
	}
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}
