package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/dialog"
)

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
		if a.mouse.Held() {
			return a.apply(a.mouse.Drag(a.conv, m.X, m.Y))
		}
	case tea.MouseReleaseMsg:
		if a.mouse.Held() {
			return a.apply(a.mouse.Release(a.conv))
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
		if m.Y < a.conv.Height() || !s.Wheel(by) {
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
	a.mouse.Drop()
	if y >= a.conv.Height() {
		y -= a.conv.Height()
		if s := a.sheets.Taking(); s != nil {
			if c, ok := s.(dialog.Clicked); ok && !a.sheets.Belated() {
				return a.apply(c.Click(a, y))
			}
			return nil
		}
		return a.apply(a.input.Click(x, y, a.offerRows()))
	}
	if cmd, ok := a.pressSide(x, y); ok {
		return cmd
	}
	a.mouse.Press(x, y)
	return nil
}

// wheel turns the wheel in the conversation.
func (a *App) wheel(m tea.MouseWheelMsg) tea.Cmd {
	by := a.opts.Scroll
	if m.Button == tea.MouseWheelUp {
		by = -by
	} else if m.Button != tea.MouseWheelDown {
		return nil
	}
	return a.apply(a.conv.Scroll(by))
}
