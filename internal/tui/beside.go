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
	sideAlways = 120 // columns from which it is shown unasked
	sideAtAll  = 90  // columns from which it can be shown at all
)

// sidebar returns how wide the sidebar is; 0: it is not shown.
func (v *view) sidebar() int {
	switch {
	case v.opts.Inline || v.session.ID == "" || v.look.Width < sideAtAll:
		return 0
	case v.look.Width < sideAlways && !v.sideOpen, v.look.Width >= sideAlways && v.prefs.NoSidebar:
		return 0
	}
	return sideWidth
}

// pane is the look of the conversation, which may have to leave room for other things.
func (v *view) pane() look.Look {
	l := v.look
	l.Width -= v.sidebar() + v.barWidth()
	return l
}

// widen changes how wide the conversation is; the person stays at the place they were reading.
func (v *view) widen(change func()) {
	read := v.conv.Reading()
	change()
	v.conv.ReadOn(read)
}

// toggleSidebar shows the sidebar or hides it. If there is no room next to the
// conversation it is a page.
func toggleSidebar(a *App) tea.Cmd {
	switch {
	case a.opts.Inline || a.look.Width < sideAtAll:
		a.apply(dialog.Open{Sheet: &dialog.Page{Title: "session", Lines: func(l look.Look) []styled.Line {
			l.Width -= 3
			return a.side.Lines(l, 1<<20)
		}}})
		return a.side.Fill()
	case a.look.Width < sideAlways:
		a.widen(func() { a.sideOpen = !a.sideOpen })
		return a.loadSide()
	}
	a.widen(func() { a.prefs.NoSidebar = !a.prefs.NoSidebar })
	return tea.Batch(a.prefs.Save(), a.loadSide())
}

// loadSide reads what the sidebar shows, where it is shown.
func (v *view) loadSide() tea.Cmd {
	if v.sidebar() == 0 {
		return nil
	}
	return v.side.Fill()
}

// beside puts the scroll bar and the sidebar next to the conversation.
func (v *view) beside(lines []styled.Line, height int) []styled.Line {
	wide := v.pane().Width
	if wide == v.look.Width {
		return lines
	}
	l := v.look
	var bar, rows []styled.Line
	if v.barWidth() > 0 {
		bar = v.conv.BarLines(v.sidebar() > 0)
	}
	border := styled.Span{Text: l.Glyph("│", "|") + " ", Style: l.FG(theme.Border)}
	if bar != nil { // the scroll bar is border enough
		border.Text = "  "
	}
	if v.sidebar() > 0 {
		inner := l
		inner.Width = sideWidth - 3
		rows = v.side.Lines(inner, height)
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
		if v.sidebar() > 0 {
			line = append(line, border)
			if y < len(rows) {
				line = append(line, rows[y]...)
			}
		}
		out[y] = line
	}
	return out
}
