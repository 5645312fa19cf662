package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/dialog"
)

// worktreeMsg is a worktree to go on in.
type worktreeMsg struct {
	made api.Worktree
	err  error
}

// canBranchOff reports whether the screen can go on in a worktree.
func canBranchOff(v *view) bool { return v.access.Able.Worktrees != nil }

// branchOff makes a worktree, of the name that stands after the command, and has the screen
// opened again there. What runs in this session would go on unseen, so it has to end first.
func branchOff(a *App) tea.Cmd {
	name := strings.TrimSpace(a.sheets.Take())
	if a.busy() || len(a.status) > 0 {
		a.notify(dialog.Warning, "a turn is running; begin a worktree when it is done")
		return a.tick()
	}
	a.notify(dialog.Info, "making a worktree…")
	worktrees := a.access.Able.Worktrees
	return tea.Batch(a.tick(), a.access.Do(func(ctx context.Context) tea.Msg {
		made, err := worktrees.CreateWorktree(ctx, name)
		return worktreeMsg{made, err}
	}))
}

// branchedOff leaves this screen for the one in a worktree.
func (a *App) branchedOff(m worktreeMsg) tea.Cmd {
	if m.err != nil {
		a.fail(m.err)
		return a.tick()
	}
	a.elsewhere = &m.made
	return tea.Quit
}

// Elsewhere returns the worktree that the screen was left for, or nil.
func (a *App) Elsewhere() *api.Worktree { return a.elsewhere }
