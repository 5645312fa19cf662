package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/edit"
)

// stop stops the turn. What the person wrote meanwhile and the turn did not take up comes back
// to the input.
func (a *App) stop() tea.Cmd {
	id := a.session.ID
	a.conv.Queue(a.busy(), a.opts.Now())
	first, texts := a.conv.Queued()
	undo := a.access.Able.Undo
	return func() tea.Msg {
		ctx := a.access.Context()
		if err := a.access.Abort(ctx, id); err != nil || first == "" || len(texts) == 0 || undo == nil {
			return doneMsg{err: err}
		}
		if err := undo.Revert(ctx, id, first); err != nil {
			return doneMsg{} // it stays where it is, marked as not answered
		}
		return doneMsg{text: "stopped; what waited is in the input again", then: func(a *App) tea.Cmd {
			return a.waited(id, edit.Join(texts))
		}}
	}
}

// waited puts a text that was queued or undone before what is in the input.
func (a *App) waited(session lathe.SessionID, text edit.Written) tea.Cmd {
	if a.session.ID != session || text.Text == "" {
		return a.tick()
	}
	a.input.Above(text)
	return a.tick()
}
