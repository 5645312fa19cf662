package instance

import (
	"context"
	"sync"

	"lathe"
	"lathe/internal/snapshot"
)

const snapshotsPart = "snapshots"

// snapshots is the part that keeps the trees of an instance's worktree. Whether they
// can be kept is determined once.
type snapshots struct {
	open func() (*snapshot.Store, error)

	once  sync.Once
	store *snapshot.Store
	err   error
}

// Name returns "snapshots".
func (*snapshots) Name() string { return snapshotsPart }

// Start opens the store.
func (s *snapshots) Start(context.Context, func()) error {
	s.once.Do(func() { s.store, s.err = s.open() })
	return s.err
}

// Status is empty: a store that is open works.
func (*snapshots) Status() string { return "" }

// Close closes the store if it was opened.
func (s *snapshots) Close() error {
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}

// openSnapshots opens the snapshot store of the instance's worktree.
func (i *Instance) openSnapshots() (*snapshot.Store, error) {
	if !i.Config.SnapshotOn() {
		return nil, lathe.Errorf(lathe.CodeInvalid, `set "snapshot" to true in the configuration`, "snapshots are switched off")
	}
	store, err := snapshot.Open(context.Background(), snapshot.Options{
		Root: i.Root, Project: i.Project.ID, DataDir: i.Paths.Data, Home: i.Paths.Home, Environ: i.Shell.Env, Log: i.Log,
	})
	if err != nil {
		i.Log.Info("steps cannot be undone here", "err", err)
	}
	return store, err
}

// Snapshots returns the snapshot store of the instance's worktree, or why there
// is none.
func (i *Instance) Snapshots() (*snapshot.Store, error) {
	err := i.Parts.Start(context.Background(), snapshotsPart)
	return i.trees.store, err
}

// TryUndo takes a snapshot of the directory and returns what prevents undo in it,
// or nil. In a large directory it takes a while.
func (i *Instance) TryUndo(ctx context.Context) error {
	store, err := i.Snapshots()
	if err == nil {
		_, err = store.Track(ctx)
	}
	return err
}
