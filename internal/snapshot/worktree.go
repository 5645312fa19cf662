package snapshot

import (
	"io/fs"
	"os"
	"path/filepath"

	"lathe/internal/workspace"
)

// worktree is the directory that snapshots are of, as it is now. Its methods take
// paths relative to it, with slashes.
type worktree struct{ top string }

// full returns the path of a file of the worktree.
func (w worktree) full(p string) string { return filepath.Join(w.top, filepath.FromSlash(p)) }

// isBare reports whether a directory is there and empty.
func (w worktree) isBare(dir string) bool {
	name := w.full(dir)
	if info, err := os.Lstat(name); err != nil || !info.IsDir() {
		return false
	}
	entries, err := workspace.ReadDir(name, 1)
	return err == nil && len(entries) == 0
}

// standsIn reports whether something other than a directory is at the path.
func (w worktree) standsIn(rel string) bool {
	info, err := os.Lstat(w.full(rel))
	return err == nil && !info.IsDir()
}

// perm returns the permission bits of a regular file; false: there is none.
func (w worktree) perm(path string) (fs.FileMode, bool) {
	info, err := os.Lstat(w.full(path))
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Mode().Perm(), true
}
