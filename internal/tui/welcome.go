package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/chat"
	"lathe/internal/tui/compose"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/marks"
	"lathe/internal/tui/start"
	"lathe/internal/tui/styled"
)

// welcome is what an empty session shows.
func (v *view) welcome(height int) []styled.Line {
	model := v.choice.Current()
	return v.start.Draw(v.pane(), height, start.Page{
		Model: styled.OneLine(model.String()), Offline: model.Provider == "offline", Found: v.setup.Found(), Notices: v.opts.Notices, Now: v.opts.Now(),
	})
}

// started does what the start page, the search and the bookmarks want done.
func (a *App) started(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case start.Open:
		return a.open(m.Session)
	case marks.Known:
		return a.noted(m)
	case chat.Goto:
		a.goal = m.Message
		return a.toGoal()
	case start.GoOn:
		return a.goOn(m.Text)
	case start.ShowServers:
		return showServers(a)
	case start.Copied:
		return a.choice.Load()
	case start.ShowPlugins:
		return a.apply(a.plugins.List())
	}
	return nil
}

// noted takes what is known of a session when it was opened.
func (a *App) noted(k marks.Known) tea.Cmd {
	if k.Session != a.session.ID {
		return nil
	}
	a.marks.Take(k)
	if k.Notes.UndoOff == "" {
		delete(a.undoOff, k.Session)
	} else {
		a.undoOff[k.Session] = k.Notes.UndoOff
	}
	return nil
}

// goOn sends a text to the session on screen; what is in the input stays there.
func (a *App) goOn(text string) tea.Cmd {
	a.conv.Follow()
	a.sending++
	if a.since.IsZero() {
		a.since = a.opts.Now()
	}
	agent, model := a.choice.Chosen()
	before := edit.Editor{}
	before.Set(text)
	return tea.Batch(a.send(compose.Typed{Text: text}, engine.Prompt{Text: text, Agent: agent, Model: model}, before, a.modes.Begin()), a.tick())
}

// quickSwitch opens the session with that place among those that were used last.
func quickSwitch(n int) func(a *App) tea.Cmd {
	return func(a *App) tea.Cmd {
		if a.session.ID == "" {
			return a.apply(a.start.Pick(n))
		}
		return a.apply(a.start.Switch(n, a.session.ID))
	}
}
