package client

import (
	"context"

	"lathe/internal/api"
)

// Worktrees lists the worktrees that lathe made for the repository of the directory.
func (c worktrees) Worktrees(ctx context.Context) ([]api.Worktree, error) {
	return get(ctx, c.conn, "/lathe/worktree", nil, plain[[]api.Worktree])
}

// CreateWorktree makes a worktree; an empty name gets a made-up one. It returns when its
// files are there and the project's start command has ended.
func (c worktrees) CreateWorktree(ctx context.Context, name string) (api.Worktree, error) {
	return post(ctx, c.conn, "/lathe/worktree", api.WorktreeName{Name: name}, plain[api.Worktree])
}

// CommitWorktree commits what is in a worktree that lathe made, and says what changed.
func (c worktrees) CommitWorktree(ctx context.Context, name string) (api.Worktree, error) {
	return post(ctx, c.conn, "/lathe/worktree/commit", api.WorktreeName{Name: name}, plain[api.Worktree])
}

// MergeWorktree takes what was done in a worktree into the files of the directory.
func (c worktrees) MergeWorktree(ctx context.Context, name string) (api.MergedWorktree, error) {
	return post(ctx, c.conn, "/lathe/worktree/merge", api.WorktreeName{Name: name}, plain[api.MergedWorktree])
}

// RemoveWorktree removes a worktree that lathe made. What would be lost is kept on a branch.
func (c worktrees) RemoveWorktree(ctx context.Context, name string) (api.RemovedWorktree, error) {
	return post(ctx, c.conn, "/lathe/worktree/remove", api.WorktreeName{Name: name}, plain[api.RemovedWorktree])
}
