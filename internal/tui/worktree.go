package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/worktrees"
)

// Elsewhere is a worktree that the screen was left for.
type Elsewhere struct {
	api.Worktree
	Made bool // for this screen; otherwise it was there, and its last session goes on
}

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
	if a.stays() {
		return a.tick()
	}
	a.notify(dialog.Info, "making a worktree…")
	able := a.access.Able.Worktrees
	return tea.Batch(a.tick(), a.access.Do(func(ctx context.Context) tea.Msg {
		made, err := able.CreateWorktree(ctx, name)
		return worktreeMsg{made, err}
	}))
}

// stays tells the person that the screen cannot be left while a turn runs, if one does.
func (a *App) stays() bool {
	running := a.busy() || len(a.status) > 0
	if running {
		a.notify(dialog.Warning, "a turn is running; begin a worktree when it is done")
	}
	return running
}

// listWorktrees shows the worktrees that lathe made.
func listWorktrees(a *App) tea.Cmd { return a.apply(worktrees.New(a.access).List()) }

// moveTo leaves this screen for the one in a worktree that was there.
func (a *App) moveTo(m worktrees.GoOn) tea.Cmd {
	if a.stays() {
		return a.tick()
	}
	a.elsewhere = &Elsewhere{Worktree: m.Worktree}
	return tea.Quit
}

// branchedOff leaves this screen for the one in a worktree.
func (a *App) branchedOff(m worktreeMsg) tea.Cmd {
	if m.err != nil {
		a.fail(m.err)
		return a.tick()
	}
	a.elsewhere = &Elsewhere{m.made, true}
	return tea.Quit
}

// Elsewhere returns the worktree that the screen was left for, or nil.
func (a *App) Elsewhere() *Elsewhere { return a.elsewhere }
