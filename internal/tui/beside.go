package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	sideWidth  = 38  // columns of the sidebar, its border included
	sideAlways = 120 // columns from which on it is shown without being asked for
	sideAtAll  = 90  // and can be shown
)

// sidebar returns how wide the sidebar is; 0: it is not shown.
func (a *App) sidebar() int {
	switch {
	case a.opts.Inline || a.session.ID == "" || a.look.Width < sideAtAll:
		return 0
	case a.look.Width < sideAlways && !a.sideOpen, a.look.Width >= sideAlways && a.prefs.NoSidebar:
		return 0
	}
	return sideWidth
}

// pane is the look of the conversation, beside which other things may stand.
func (a *App) pane() look.Look {
	l := a.look
	l.Width -= a.sidebar() + a.barWidth()
	return l
}

// widen changes how wide the conversation is; the person reads on where they did.
func (a *App) widen(change func()) {
	read := a.conv.Reading()
	change()
	a.conv.ReadOn(read)
}

// toggleSidebar shows the sidebar or hides it. Where there is no room beside the
// conversation it is a page.
func (a *App) toggleSidebar() tea.Cmd {
	switch {
	case a.opts.Inline || a.look.Width < sideAtAll:
		a.push(&dialog.Page{Title: "session", Lines: func(l look.Look) []styled.Line {
			l.Width -= 3
			return a.side.Lines(l, 1<<20)
		}})
		return a.side.Fill()
	case a.look.Width < sideAlways:
		a.widen(func() { a.sideOpen = !a.sideOpen })
		return a.loadSide()
	}
	a.widen(func() { a.prefs.NoSidebar = !a.prefs.NoSidebar })
	return tea.Batch(a.prefs.Save(), a.loadSide())
}

// loadSide reads what the sidebar shows, where it is shown.
func (a *App) loadSide() tea.Cmd {
	if a.sidebar() == 0 {
		return nil
	}
	return a.side.Fill()
}

// beside puts the scroll bar and the sidebar beside the conversation.
func (a *App) beside(lines []styled.Line, height int) []styled.Line {
	wide := a.pane().Width
	if wide == a.look.Width {
		return lines
	}
	l := a.look
	var bar, rows []styled.Line
	if a.barWidth() > 0 {
		bar = a.conv.BarLines(a.sidebar() > 0)
	}
	border := styled.Span{Text: l.Glyph("│", "|") + " ", Style: l.FG(theme.Border)}
	if bar != nil { // it is border enough
		border.Text = "  "
	}
	if a.sidebar() > 0 {
		inner := l
		inner.Width = sideWidth - 3
		rows = a.side.Lines(inner, height)
	}
	out := make([]styled.Line, height)
	for y := range out {
		var line styled.Line
		if y < len(lines) {
			line = lines[y]
		}
		line = line.Cut(wide, l.Method).Pad(wide, l.Method, "")
		if bar != nil {
			line = append(line, bar[y]...)
		}
		if a.sidebar() > 0 {
			line = append(line, border)
			if y < len(rows) {
				line = append(line, rows[y]...)
			}
		}
		out[y] = line
	}
	return out
}

// pressSide handles a press beside the text of the conversation.
func (a *App) pressSide(x, y int) (tea.Cmd, bool) {
	wide := a.pane().Width
	switch {
	case x < wide || wide == a.look.Width:
		return nil, false
	case x == wide && a.barWidth() > 0:
		a.mouse.Hold()
		return a.apply(a.conv.DragBar(y)), true
	}
	return nil, true
}
