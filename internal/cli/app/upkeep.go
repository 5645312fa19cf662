package app

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lathe/internal/instance"
	"lathe/internal/store/local"
)

const (
	upkeepAfter = 2 * time.Second // short runs are over by then
	upkeepEvery = time.Hour
	indexAfter  = 30 * time.Second // later than an import of usual size, which it would slow
	indexFor    = 10 * time.Second
	keptLogs    = 10
)

// startUpkeep removes what is no longer needed: old spill files, blobs and open
// texts that no row names, old logs. It runs in the background, at most once an
// hour for all processes, and ends with the app.
func (a *App) startUpkeep(ctx context.Context) {
	a.wg.Go(func() {
		timer := time.NewTimer(upkeepAfter)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			if a.upkeepDue() {
				a.upkeep(ctx)
				a.retain(ctx)
				a.index(ctx)
			}
			timer.Reset(upkeepEvery)
		}
	})
}

// upkeepDue reports whether the last upkeep was long ago, and claims this one.
func (a *App) upkeepDue() bool {
	stamp := filepath.Join(a.Paths.Data, "upkeep")
	now := a.Env.Now()
	if info, err := os.Stat(stamp); err == nil && now.Sub(info.ModTime()) < upkeepEvery {
		return false
	}
	if os.WriteFile(stamp, nil, 0o600) != nil {
		return false
	}
	return os.Chtimes(stamp, now, now) == nil
}

func (a *App) upkeep(ctx context.Context) {
	outputs := local.Outputs{Dir: filepath.Join(a.Paths.Data, local.OutputsDir), Now: a.Env.Now}
	cleaned, err := outputs.Clean(ctx)
	if err != nil && ctx.Err() == nil {
		a.Log.Warn("old tool outputs could not be removed", "err", err)
	}
	swept, err := a.Store.Sweep(ctx)
	if err != nil && ctx.Err() == nil {
		a.Log.Warn("unused files of the store could not be removed", "err", err)
	}
	Keepers(a.Env, a.Paths).Clean(a.Env.Now().Add(-local.KeepOutputs))
	a.removeOldLogs()
	a.removeOldScratch(ctx)
	a.Log.Debug("upkeep", "outputs", cleaned, "store", swept)
}

// removeOldScratch removes files in scratch directories that were not changed for as
// long as spilled output is kept.
func (a *App) removeOldScratch(ctx context.Context) {
	cutoff := a.Env.Now().Add(-local.KeepOutputs)
	var dirs []string
	_ = filepath.WalkDir(filepath.Join(a.Paths.Cache, instance.ScratchName), func(path string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return ctx.Err() // what cannot be read is kept
		}
		if d.IsDir() {
			dirs = append(dirs, path)
			return nil
		}
		if info, err := d.Info(); err == nil && info.ModTime().Before(cutoff) {
			_ = os.Remove(path)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs[min(1, len(dirs)):]) { // the deepest first
		if info, err := os.Stat(dir); err == nil && info.ModTime().Before(cutoff) {
			_ = os.Remove(dir) // removes it only if it is empty
		}
	}
}

// index adds new messages to the search index, so that the next search need
// not. A history that was just imported is added bit by bit.
func (a *App) index(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(indexAfter):
	}
	some, cancel := context.WithTimeout(ctx, indexFor)
	defer cancel()
	if _, err := a.Store.Index(some); err != nil && some.Err() == nil {
		a.Log.Warn("new messages could not be indexed", "err", err)
	}
}

// removeOldLogs keeps the newest logs; their names are dates.
func (a *App) removeOldLogs() {
	dir := filepath.Join(a.Paths.Data, "log")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".log" {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for i := 0; i < len(names)-keptLogs; i++ {
		_ = os.Remove(filepath.Join(dir, names[i]))
	}
}
