package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
)

func (a *App) toggleTimes() tea.Cmd {
	a.look.Times = !a.look.Times
	a.prefs.Times = a.look.Times
	return a.prefs.Save()
}

// shownName is what prompts are signed with, if they are.
func shownName(o Options) string {
	if !o.Prefs.Names {
		return ""
	}
	return look.Or(styled.OneLine(o.User), "you")
}

func (a *App) toggleNames() tea.Cmd {
	a.prefs.Names = !a.prefs.Names
	a.opts.Prefs.Names = a.prefs.Names
	a.look.Name = shownName(a.opts)
	return a.prefs.Save()
}

func (a *App) toggleTips() tea.Cmd {
	a.prefs.NoTips = !a.prefs.NoTips
	return a.prefs.Save()
}

func notInline(a *App) bool { return !a.opts.Inline }

// barWidth returns how many columns the scroll bar takes.
func (a *App) barWidth() int {
	if !a.prefs.Scrollbar || a.opts.Inline || a.session.ID == "" {
		return 0
	}
	return 1
}

func (a *App) toggleScrollbar() tea.Cmd {
	a.widen(func() { a.prefs.Scrollbar = !a.prefs.Scrollbar })
	return a.prefs.Save()
}
