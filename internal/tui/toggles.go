package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
)

func toggleTimes(a *App) tea.Cmd {
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

func toggleNames(a *App) tea.Cmd {
	a.prefs.Names = !a.prefs.Names
	a.opts.Prefs.Names = a.prefs.Names
	a.look.Name = shownName(a.opts)
	return a.prefs.Save()
}

func toggleTips(a *App) tea.Cmd {
	a.prefs.NoTips = !a.prefs.NoTips
	return a.prefs.Save()
}

func notInline(v *view) bool { return !v.opts.Inline }

// barWidth returns how many columns the scroll bar takes.
func (v *view) barWidth() int {
	if !v.prefs.Scrollbar || v.opts.Inline || v.session.ID == "" {
		return 0
	}
	return 1
}

func toggleScrollbar(a *App) tea.Cmd {
	a.widen(func() { a.prefs.Scrollbar = !a.prefs.Scrollbar })
	return a.prefs.Save()
}

// toggleVim gives the input the keys of vi, or takes them away, and remembers that.
func toggleVim(a *App) tea.Cmd {
	a.prefs.Vim = !a.prefs.Vim
	a.input.Vi(a.prefs.Vim)
	text := "the input has its usual keys"
	if a.prefs.Vim {
		text = "the input has the keys of vi: esc for commands, i to write"
	}
	a.notify(dialog.Info, text)
	return tea.Batch(a.prefs.Save(), a.tick())
}
