package instance

import (
	"context"
	"sync"

	"lathe"
	"lathe/internal/snapshot"
)

// undo is an instance's snapshot store, opened on first use.
type undo struct {
	once  sync.Once
	store *snapshot.Store
	err   error
}

// Snapshots returns the snapshot store of the instance's worktree, or why there
// is none.
func (i *Instance) Snapshots() (*snapshot.Store, error) {
	i.undo.once.Do(func() {
		if !i.Config.SnapshotOn() {
			i.undo.err = lathe.Errorf(lathe.CodeInvalid, `set "snapshot" to true in the configuration`, "snapshots are switched off")
			return
		}
		i.undo.store, i.undo.err = snapshot.Open(context.Background(), snapshot.Options{
			Root: i.Root, Project: i.Project.ID, DataDir: i.Paths.Data, Home: i.Paths.Home, Environ: i.Shell.Env, Log: i.Log,
		})
		if i.undo.err != nil {
			i.Log.Info("steps cannot be undone here", "err", i.undo.err)
		}
	})
	return i.undo.store, i.undo.err
}

// TryUndo takes a snapshot of the directory and returns what keeps steps in it from
// being undone, or nil. In a large directory it takes a moment.
func (i *Instance) TryUndo(ctx context.Context) error {
	store, err := i.Snapshots()
	if err == nil {
		_, err = store.Track(ctx)
	}
	return err
}

func (u *undo) close() error {
	u.once.Do(func() {})
	if u.store == nil {
		return nil
	}
	return u.store.Close()
}
