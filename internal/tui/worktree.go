package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/worktrees"
)

// canBranchOff reports whether the screen can go on in a worktree.
func canBranchOff(v *view) bool { return v.access.Able.Worktrees != nil }

// branchOff makes a worktree, of the name that stands after the command, and has the screen
// opened again there. What runs in this session would go on unseen, so it has to end first.
func branchOff(a *App) tea.Cmd {
	name := strings.TrimSpace(a.sheets.Take())
	if stays(a) {
		return a.tick()
	}
	a.notify(dialog.Info, "making a worktree…")
	return tea.Batch(a.tick(), a.apply(worktrees.New(a.access).Make(name)))
}

// stays tells the person that the screen cannot be left while a turn runs, if one does.
func stays(a *App) bool {
	running := a.busy() || len(a.status) > 0
	if running {
		a.notify(dialog.Warning, "a turn is running; begin a worktree when it is done")
	}
	return running
}

// listWorktrees shows the worktrees that lathe made.
func listWorktrees(a *App) tea.Cmd { return a.apply(worktrees.New(a.access).List()) }

// leaveFor leaves this screen for the one in a worktree. One that was made for it is left for in
// any case.
func leaveFor(a *App, m worktrees.GoOn) tea.Cmd {
	if !m.Made && stays(a) {
		return a.tick()
	}
	a.elsewhere = &m
	return tea.Quit
}

// Elsewhere returns the worktree that the screen was left for, or nil.
func (a *App) Elsewhere() *worktrees.GoOn { return a.elsewhere }
