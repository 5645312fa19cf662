package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/review"
)

// reviews does what the person wants done with the changes that they look through.
func (a *App) reviews(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case review.Comment:
		a.notify(dialog.Info, "it is in the input; send it when you are done")
		return tea.Batch(a.apply(a.input.Add(m.Text)), a.tick())
	case review.Ask:
		if !a.input.Empty() {
			a.notify(dialog.Warning, "the input holds a text; send it or put it aside first")
			return a.tick()
		}
		return a.apply(a.input.Append(m.Prompt))
	case review.Revert:
		return a.apply(chat.Undo{Message: m.Message})
	case review.Jump:
		a.goal = m.Message
		return a.toGoal()
	}
	return a.started(msg)
}

func canReview(v *view) bool { return hasSession(v) && v.access.Able.Review != nil }
