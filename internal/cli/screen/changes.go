package screen

import (
	"context"

	"lathe"
	"lathe/internal/tui/engine"
)

// Changes says which files a session changed, without what was reverted.
func (t Abilities) Changes(ctx context.Context, id lathe.SessionID) ([]engine.FileChange, error) {
	list, err := t.c.StandingDiff(ctx, id)
	out := make([]engine.FileChange, 0, len(list))
	for _, d := range list {
		out = append(out, engine.FileChange{File: d.File, Added: d.Additions, Removed: d.Deletions})
	}
	return out, err
}
