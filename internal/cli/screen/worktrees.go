package screen

import (
	"context"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

// worktreesOf is what the screen needs for worktrees.
type worktreesOf struct{ *client.Client }

// AllSessions returns the sessions of every directory.
func (w worktreesOf) AllSessions(ctx context.Context) ([]lathe.Session, error) {
	return w.List(ctx, api.SessionFilter{Everywhere: true})
}
