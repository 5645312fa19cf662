package screen

import (
	"context"

	"lathe"
	"lathe/internal/tui/engine"
)

// Changes says which files a session changed, without what was reverted.
func (t Abilities) Changes(ctx context.Context, id lathe.SessionID) ([]engine.FileChange, error) {
	list, err := t.c.StandingDiff(ctx, id)
	return engine.FileChanges(list), err
}
