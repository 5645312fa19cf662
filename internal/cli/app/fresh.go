package app

import (
	"context"
	"slices"

	"lathe/internal/clone"
	"lathe/internal/store"
	"lathe/internal/workspace"
)

// fresh returns what fetches before something new begins in a clone, which is nil if there are
// no clones.
func (a *App) fresh(clones []*clone.Clone) func(ctx context.Context, dir string) {
	if len(clones) == 0 {
		return nil
	}
	return func(ctx context.Context, dir string) {
		for _, c := range clones {
			if c.Has(dir) {
				c.Refresh(ctx, func() bool { return a.busy(ctx, c.Dir) })
			}
		}
	}
}

// busy reports whether something is being done, or waits to be done, in a directory or below
// it, here or by another worker. What is not known counts.
func (a *App) busy(ctx context.Context, dir string) bool {
	if len(a.Service.Statuses(dir)) > 0 {
		return true
	}
	state, err := a.Store.Queue.State(ctx)
	return err != nil || slices.ContainsFunc(state.Open, func(w store.Work) bool { return workspace.Within(dir, w.Directory) })
}
