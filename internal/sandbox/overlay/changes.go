package overlay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"lathe/internal/sandbox"
)

// Kind says what happens to a file or directory.
type Kind string

// Kinds of changes.
const (
	Added   Kind = "added"
	Changed Kind = "changed"
	Removed Kind = "removed"
)

// Change is what would happen to one file, or to a directory that is added or removed
// with all it holds.
type Change struct {
	Path string // absolute, in the project
	Kind Kind
	Mode fs.FileMode // afterwards; of what is removed: before
	// Was is the mode before; 0 if it was not there.
	Was fs.FileMode
	// Files and Bytes are what an added or removed directory holds. They may be less if
	// that is very much.
	Files int
	Bytes int64

	part   sandbox.Overlay
	rel    string
	before fs.FileInfo // nil: it was not there
}

// Before opens what the file holds in the project, After what it would hold. Both fail
// with [fs.ErrInvalid] for what is no regular file.
func (c *Change) Before() (io.ReadCloser, error) { return open(c.Path, c.before) }

// AfterPath is where the file lies before it is in the project.
func (c *Change) AfterPath() string { return filepath.Join(c.part.Upper, c.rel) }

// After is described at [Change.Before].
func (c *Change) After() (io.ReadCloser, error) {
	path := c.AfterPath()
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return open(path, info)
}

func open(path string, info fs.FileInfo) (io.ReadCloser, error) {
	if info == nil || !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	return os.Open(path)
}

// Below calls fn for the files of an added or removed directory, by absolute path,
// with the one that has their contents, until it returns false.
func (c *Change) Below(fn func(path, at string, info fs.FileInfo) bool) {
	top := c.Path
	if c.Kind == Added {
		top = filepath.Join(c.part.Upper, c.rel)
	}
	_ = filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		rel, _ := filepath.Rel(top, at)
		info, err := d.Info()
		if err == nil && !fn(filepath.Join(c.Path, rel), at, info) {
			return fs.SkipAll
		}
		return nil
	})
}

// maxCounted bounds how many files of a directory are counted.
const maxCounted = 200_000

// count counts what a directory holds.
func (c *Change) count() {
	c.Below(func(_, _ string, info fs.FileInfo) bool {
		c.Files++
		c.Bytes += info.Size()
		return c.Files < maxCounted
	})
}

// Changes lists what the command changed, in the order of the paths, each directory
// before what it holds. Times alone are no change. The command has ended.
func (h *Held) Changes() (list []Change, err error) {
	for _, part := range h.parts {
		w := walker{part: part}
		err = errors.Join(err, w.dir(".", false))
		list = append(list, w.list...)
	}
	if err != nil {
		return nil, fmt.Errorf("look at what was held back: %w", err)
	}
	return list, nil
}

// walker lists the changes of one directory.
type walker struct {
	part sandbox.Overlay
	list []Change
}

// dir compares a directory that is there on both sides. It is opaque if nothing of what
// the project has there is left.
func (w *walker) dir(rel string, opaque bool) error {
	entries, err := os.ReadDir(filepath.Join(w.part.Upper, rel))
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, e := range entries {
		kept[e.Name()] = true
		if err := w.entry(filepath.Join(rel, e.Name())); err != nil {
			return err
		}
	}
	if !opaque {
		return nil
	}
	below, err := os.ReadDir(filepath.Join(w.part.Dir, rel))
	for _, e := range below {
		if !kept[e.Name()] {
			w.add(filepath.Join(rel, e.Name()), Removed, nil)
		}
	}
	return err
}

func (w *walker) entry(rel string) error {
	at := filepath.Join(w.part.Upper, rel)
	info, err := os.Lstat(at)
	if err != nil {
		return err
	}
	was, err := os.Lstat(filepath.Join(w.part.Dir, rel))
	there := err == nil
	switch {
	case whiteout(info):
		if there {
			w.add(rel, Removed, nil)
		}
	case !there:
		w.add(rel, Added, info)
	case was.Mode().Type() != info.Mode().Type():
		w.add(rel, Removed, nil)
		w.add(rel, Added, info)
	case info.IsDir():
		if was.Mode().Perm() != info.Mode().Perm() {
			w.add(rel, Changed, info)
		}
		return w.dir(rel, opaque(at))
	default:
		same, err := same(filepath.Join(w.part.Dir, rel), at, was, info)
		if err != nil {
			return err
		}
		if !same || was.Mode() != info.Mode() {
			w.add(rel, Changed, info)
		}
	}
	return nil
}

// add adds a change; after is what will be there, nil for nothing.
func (w *walker) add(rel string, kind Kind, after fs.FileInfo) {
	c := Change{Path: filepath.Join(w.part.Dir, rel), Kind: kind, part: w.part, rel: rel}
	if was, err := os.Lstat(c.Path); err == nil {
		c.before, c.Was, c.Mode = was, was.Mode(), was.Mode()
	}
	if after != nil {
		c.Mode = after.Mode()
	}
	if c.Mode.IsDir() && kind != Changed {
		c.count()
	}
	w.list = append(w.list, c)
}

// same reports whether two files of one type hold the same.
func same(a, b string, infoA, infoB fs.FileInfo) (bool, error) {
	switch infoA.Mode().Type() {
	case fs.ModeSymlink:
		to, err := os.Readlink(a)
		now, bad := os.Readlink(b)
		return to == now, errors.Join(err, bad)
	case 0:
	default:
		return true, nil // a pipe or a socket holds nothing
	}
	if infoA.Size() != infoB.Size() {
		return false, nil
	}
	fa, err := os.Open(a)
	if err != nil {
		return false, nil // lathe may not read it, so the command did not just copy it
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer fb.Close()
	return sameText(fa, fb)
}

func sameText(a, b io.Reader) (bool, error) {
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, x)
		m, bad := io.ReadFull(b, y)
		if n != m || !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		if err != nil || bad != nil {
			ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			if ended {
				err = nil
			}
			return err == nil, err
		}
	}
}

// ErrChanged means that the project is not any more as the command saw it. Nothing was changed.
var ErrChanged = errors.New("something else changed it in the meantime")

// unchanged checks that the project still has what a change was compared with, and had
// it when the command began.
func (h *Held) unchanged(c *Change) error {
	now, err := os.Lstat(c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if c.before == nil || c.Kind == Removed {
			return nil
		}
		return fmt.Errorf("%s: %w", c.Path, ErrChanged)
	case err != nil:
		return err
	case c.before == nil, !os.SameFile(now, c.before), now.ModTime() != c.before.ModTime(), now.Size() != c.before.Size() && !now.IsDir(),
		now.Mode() != c.before.Mode(), !now.IsDir() && statusChanged(now).After(statusChanged(h.since)):
		return fmt.Errorf("%s: %w", c.Path, ErrChanged)
	}
	return nil
}
