package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
)

// pointer is the mouse: what it selects, drags and presses.
type pointer struct{ chat.Selection }

// mouseEvent handles what the mouse does.
func (p *pointer) mouseEvent(a *App, msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.MouseWheelMsg:
		return p.wheelIn(a, m)
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft {
			return p.press(a, m.X, m.Y)
		}
	case tea.MouseMotionMsg:
		if p.Held() {
			return a.apply(p.Drag(a.conv, m.X, m.Y))
		}
	case tea.MouseReleaseMsg:
		if p.Held() {
			return a.apply(p.Release(a.conv))
		}
	}
	return nil
}

// wheelIn scrolls the open list or page, else the conversation.
func (p *pointer) wheelIn(a *App, m tea.MouseWheelMsg) tea.Cmd {
	s := a.sheets.Top()
	switch s := s.(type) {
	case *dialog.List, *dialog.Page:
	case dialog.Wheeled:
		by := a.opts.Scroll
		if m.Button == tea.MouseWheelUp {
			by = -by
		}
		if m.Y < a.below() || !s.Wheel(by) {
			return p.wheel(a, m)
		}
		return nil
	default:
		return p.wheel(a, m)
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
func (p *pointer) press(a *App, x, y int) tea.Cmd {
	p.Drop()
	if y >= a.conv.Height() && y < a.below() {
		return nil
	}
	if y >= a.below() {
		y -= a.below()
		if a.showsInput() && y >= a.inputTop {
			return a.apply(a.input.Click(x, y-a.inputTop, a.offerRows()))
		}
		if s := a.sheets.Taking(); s != nil && !a.sheets.Belated() {
			a.sheets.Turn()
			if c, ok := s.(dialog.Clicked); ok {
				return a.apply(c.Click(a, y))
			}
		}
		return nil
	}
	if a.session.ID == "" && a.conv.Empty() {
		if m := a.start.Click(y); m != nil {
			return a.apply(m)
		}
	}
	if cmd, ok := p.pressSide(a, x, y); ok {
		return cmd
	}
	p.Press(x, y)
	return nil
}

// wheel scrolls the conversation.
func (p *pointer) wheel(a *App, m tea.MouseWheelMsg) tea.Cmd {
	by := a.opts.Scroll
	if m.Button == tea.MouseWheelUp {
		by = -by
	} else if m.Button != tea.MouseWheelDown {
		return nil
	}
	return a.apply(a.conv.Scroll(by))
}

// pressSide handles a press beside the text of the conversation.
func (p *pointer) pressSide(a *App, x, y int) (tea.Cmd, bool) {
	wide := a.pane().Width
	switch {
	case x < wide || wide == a.look.Width:
		return nil, false
	case x == wide && a.barWidth() > 0:
		p.Hold()
		return a.apply(a.conv.DragBar(y)), true
	}
	return nil, true
}
