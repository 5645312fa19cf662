package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadFile is [ReadFile] for a resolved path in the workspace. The file is opened
// beneath the workspace's directory, so that a link that takes its place in the
// meantime leads nowhere else; one that would fails with an error.
func (r Root) ReadFile(real string, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	f, err := r.open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = regular(real, info)
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("read %s: %d bytes, the limit is %d: %w", real, info.Size(), limit, ErrTooLarge)
	}
	return readAll(f, limit, info.Size())
}

// ReadDir is [ReadDir] for a resolved path in the workspace, opened as by
// [Root.ReadFile].
func (r Root) ReadDir(real string, limit int) ([]fs.DirEntry, error) {
	f, err := r.open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(limit)
	return entries, ended(err)
}

// open opens a path beneath the workspace. Anything but a file or directory is
// refused first, since merely opening it can have an effect.
func (r Root) open(real string) (*os.File, error) {
	base := r.Dir
	if !Within(base, real) && r.TopLevel != "/" {
		base = r.TopLevel
	}
	rel, err := filepath.Rel(base, real)
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	info, err := dir.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if err := regular(real, info); err != nil {
			return nil, err
		}
	}
	return dir.OpenFile(rel, os.O_RDONLY|openFlags, 0)
}
