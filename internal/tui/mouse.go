package tui

import (
	"os"
	"os/exec"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/styled"
)

// mouse is what the person does with the mouse in the conversation: they select
// text by dragging, which copies it, and open things by a click.
type mouse struct {
	shown      []place // what the rows of the conversation show, as of the last drawing
	pressed    bool
	dragged    bool
	bar        bool  // it is the scroll bar that is dragged
	from, till point // of the selection
}

// point is a cell of the conversation that stays where it is when text moves.
type point struct {
	place
	col int
}

// mouseEvent handles what the mouse does.
func (a *App) mouseEvent(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.MouseWheelMsg:
		return a.wheelIn(m)
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft {
			return a.press(m.X, m.Y)
		}
	case tea.MouseMotionMsg:
		if a.mouse.pressed {
			return a.drag(m.X, m.Y)
		}
	case tea.MouseReleaseMsg:
		if a.mouse.pressed {
			return a.release()
		}
	}
	return nil
}

// wheelIn turns the wheel in a list or a page that is open, else in the
// conversation.
func (a *App) wheelIn(m tea.MouseWheelMsg) tea.Cmd {
	s := a.sheets.Top()
	switch s := s.(type) {
	case *dialog.List, *dialog.Page:
	case dialog.Wheeled:
		by := a.opts.Scroll
		if m.Button == tea.MouseWheelUp {
			by = -by
		}
		if m.Y < a.scrollTop || !s.Wheel(by) {
			return a.wheel(m)
		}
		return nil
	default:
		return a.wheel(m)
	}
	k := tea.KeyPressMsg{Code: tea.KeyDown}
	if m.Button == tea.MouseWheelUp {
		k.Code = tea.KeyUp
	} else if m.Button != tea.MouseWheelDown {
		return nil
	}
	return a.apply(s.Key(a, k))
}

// press begins a selection, chooses in a sheet, or puts the caret.
func (a *App) press(x, y int) tea.Cmd {
	a.mouse.pressed, a.mouse.dragged = false, false
	a.mouse.from, a.mouse.till = point{}, point{}
	if y >= a.scrollTop {
		y -= a.scrollTop
		if s := a.sheets.Taking(); s != nil {
			if c, ok := s.(dialog.Clicked); ok && !a.sheets.Belated() {
				return a.apply(c.Click(a, y))
			}
			return nil
		}
		return a.pressInput(x, y)
	}
	if cmd, ok := a.pressSide(x, y); ok {
		return cmd
	}
	if p, ok := a.pointAt(x, y); ok {
		a.mouse.pressed, a.mouse.from, a.mouse.till = true, p, p
	}
	return nil
}

// pressInput chooses a completion or puts the caret where it was clicked. y counts
// from the first line below the conversation.
func (a *App) pressInput(x, y int) tea.Cmd {
	offers := len(a.input.drawOffer(a.look, a.offerRows()))
	if y < offers {
		a.input.offer.at = a.input.firstOffer(a.offerRows()) + y
		if a.input.choose() {
			return a.submit()
		}
		return a.changed()
	}
	if row := y - offers - 1; row >= 0 {
		a.input.put(x, row)
	}
	return nil
}

func (a *App) pointAt(x, y int) (point, bool) {
	if n := len(a.mouse.shown); n == 0 || y < 0 {
		return point{}, false
	} else if y >= n {
		y = n - 1
	}
	return point{a.mouse.shown[y], max(x, 0)}, true
}

// drag extends the selection; at the edges the conversation scrolls.
func (a *App) drag(x, y int) tea.Cmd {
	if a.mouse.bar {
		return a.dragBar(y)
	}
	p, ok := a.pointAt(x, min(y, a.scrollTop-1))
	if !ok {
		return nil
	}
	if p.col > a.mouse.from.col && p.place == a.mouse.from.place {
		p.col++ // the cell under the pointer belongs to it
	}
	a.mouse.dragged = a.mouse.dragged || p != a.mouse.from
	a.mouse.till = p
	switch {
	case y <= 0:
		return a.scroll(-1)
	case y >= a.scrollTop-1 && a.conv.bottom.e != nil:
		return a.scroll(1)
	}
	return nil
}

// release copies what was selected, or opens what was clicked.
func (a *App) release() tea.Cmd {
	a.mouse.pressed = false
	if a.mouse.bar {
		a.mouse.bar = false
		return nil
	}
	if !a.mouse.dragged {
		p := a.mouse.from
		a.mouse.from, a.mouse.till = point{}, point{}
		return a.openAt(p)
	}
	if text := a.selected(); text != "" {
		return a.copy(text, "copied what you selected")
	}
	return nil
}

// openAt opens what stands at a point: the session of a subagent, the file of a
// tool in the person's editor, or else a card folds or unfolds.
func (a *App) openAt(at point) tea.Cmd {
	p := at.e.at(at.line, len(a.pane().draw(at.e)))
	if p == nil {
		return nil
	}
	switch b := p.part.Body.(type) {
	case *lathe.ToolCall:
		c := newCall(b)
		if id, ok := c.meta["sessionId"].(string); ok && id != "" {
			return a.open(lathe.SessionID(id))
		}
		if file := a.fileAt(c, p, at); file != "" {
			return a.editFile(file)
		}
	case *lathe.Reasoning:
	default:
		return nil
	}
	p.turned, p.fresh, at.e.fresh = !p.turned, pen{}, pen{}
	return nil
}

// fileAt returns the file whose name was clicked in the head of a card.
func (a *App) fileAt(c call, p *piece, at point) string {
	switch c.name {
	case "read", "edit", "write", "multiedit":
	default:
		return ""
	}
	lines := a.pane().draw(at.e)
	if len(p.lines) == 0 || !sameLine(lines[at.line], p.lines[0]) || len(a.opts.Editor) == 0 {
		return ""
	}
	begin := styled.Width(cardMark, a.look.Method) + 2 + styled.Width(c.name, a.look.Method) + 1
	if at.col < begin || at.col >= begin+styled.Width(styled.OneLine(c.headline()), a.look.Method) {
		return ""
	}
	return c.arg("filePath", "path")
}

func sameLine(x, y styled.Line) bool { return len(x) > 0 && len(y) > 0 && &x[0] == &y[0] }

// editFile opens a file in the person's editor.
func (a *App) editFile(name string) tea.Cmd {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		a.notify(dialog.Warning, "there is no file "+styled.OneLine(name)+" here")
		return a.tick()
	}
	cmd := exec.Command(a.opts.Editor[0], append(slices.Clone(a.opts.Editor[1:]), name)...)
	return func() tea.Msg {
		return execMsg{cmd, func(err error) tea.Msg { return doneMsg{err: err} }}
	}
}

// body returns the column where the text of a line begins, behind what is drawn
// before it to tie it to something, and how it goes on from the line before.
func (l pen) body(line styled.Line) (col int, cont styled.Cont) {
	bars := l.Glyph("│┊▌", "|:")
	at := 0
	for i, s := range line {
		if strings.Trim(s.Text, " "+bars) != "" {
			if s.Cont != styled.Own {
				col = at
			}
			return col, s.Cont
		}
		at += styled.Width(s.Text, l.Method)
		if i == 0 && s.Cont == styled.Own || strings.ContainsAny(s.Text, bars) {
			col = at
		}
	}
	return col, styled.Own
}

// ends returns the selection in reading order.
func (a *App) ends() (from, till point, ok bool) {
	from, till = a.mouse.from, a.mouse.till
	if !a.mouse.dragged || from.e == nil || till.e == nil {
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
func (a *App) highlight(lines []styled.Line, places []place) {
	from, till, ok := a.ends()
	if !ok {
		return
	}
	for i, at := range places {
		p := point{at, 0}
		if at != from.place && before(p, from) || at != till.place && before(till, p) {
			continue
		}
		x, y := columns(at, from, till, a.pane().Width)
		begin, _ := a.pane().body(lines[i])
		x = max(x, begin)
		lines[i], _ = lines[i].Between(x, y, a.look.Method, styled.Reverse)
	}
}

// selected returns the text that is selected. Lines that were broken to fit are
// whole in it.
func (a *App) selected() string {
	from, till, ok := a.ends()
	if !ok {
		return ""
	}
	var out []string
	list := a.conv.visible()
	first, last := slices.Index(list, from.e), slices.Index(list, till.e)
	if first < 0 || last < first {
		return ""
	}
	for _, e := range list[first : last+1] {
		for i, line := range a.pane().draw(e) {
			p := point{place{e, i}, 0}
			if p.place != from.place && before(p, from) || p.place != till.place && before(till, p) {
				continue
			}
			x, y := columns(p.place, from, till, a.pane().Width)
			begin, cont := a.pane().body(line)
			_, text := line.Between(max(x, begin), y, a.look.Method, "")
			if n := len(out) - 1; n >= 0 && cont != styled.Own { // it is the line before that goes on
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
