package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/theme"
)

// budgetMsg is what of a session's budget is used.
type budgetMsg struct {
	id    lathe.SessionID
	known api.Budget
}

// closeBudget is the part of a budget, in percent, from which on it is warned of.
const closeBudget = 80

// loadBudget reads what of the budget is used: when a session is opened, and when a turn has
// ended, if there is a budget.
func (v *view) loadBudget() tea.Cmd {
	id, b := v.session.ID, v.access.Able.Budget
	if b == nil || id == "" || v.budget.id == id && len(v.budget.known.Uses) == 0 {
		return nil
	}
	return v.access.Do(func(ctx context.Context) tea.Msg {
		known, err := b.Budget(ctx, id)
		if err != nil { // the next turn asks again
			return nil
		}
		return budgetMsg{id, known}
	})
}

// budgetText says which part of the nearest limit is used; empty where there is no budget.
func (v *view) budgetText() (string, theme.Key) {
	if v.budget.id != v.session.ID {
		return "", theme.Muted
	}
	worst := v.budget.known.Worst()
	switch {
	case worst == nil:
		return "", theme.Muted
	case v.budget.known.Unpriced != "":
		return "budget: price unknown", theme.Warning
	case worst.Percent >= closeBudget:
		return fmt.Sprintf("budget %d%% %s", worst.Percent, worst.For), theme.Warning
	}
	return fmt.Sprintf("budget %d%%", worst.Percent), theme.Muted
}
