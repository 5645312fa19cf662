package overlay

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Apply makes the changes in the project. If the project is not as it was, it fails with
// [ErrChanged] and changes nothing. A failure later leaves what was made, and says what was
// not. What is in the project can change while it is at work: nothing outside of the
// directories is touched then either.
func (h *Held) Apply(list []Change) error {
	for i := range list {
		if err := h.unchanged(&list[i]); err != nil {
			return err
		}
	}
	roots := map[string]*os.Root{}
	defer func() {
		for _, r := range roots {
			_ = r.Close()
		}
	}()
	var failed error
	for i := range list {
		c := &list[i]
		root := roots[c.part.Dir]
		if root == nil {
			opened, err := os.OpenRoot(c.part.Dir)
			if err != nil {
				return err
			}
			root, roots[c.part.Dir] = opened, opened
		}
		if err := c.apply(root); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s was not %s: %w", c.Path, c.Kind, err))
		}
	}
	return failed
}

func (c *Change) apply(root *os.Root) error {
	switch {
	case c.Kind == Removed:
		return root.RemoveAll(c.rel)
	case c.Kind == Changed && c.Mode.IsDir():
		return root.Chmod(c.rel, c.Mode.Perm())
	}
	from := filepath.Join(c.part.Upper, c.rel)
	if err := plain(from); err != nil {
		return err
	}
	err := move(from, root, c.rel)
	if errors.Is(err, errors.ErrUnsupported) {
		return place(from, root, c.rel)
	}
	return err
}

// place copies a file or directory. It is only needed between file systems.
func place(from string, root *os.Root, rel string) error {
	return filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return placeOne(at, root, filepath.Join(rel, below), info)
	})
}

func placeOne(from string, root *os.Root, to string, info fs.FileInfo) error {
	switch info.Mode().Type() {
	case fs.ModeDir:
		if err := root.Mkdir(to, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return root.Chmod(to, info.Mode().Perm())
	case fs.ModeSymlink:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		_ = root.Remove(to)
		return root.Symlink(target, to)
	case 0:
		return placeFile(from, root, to, info.Mode().Perm())
	}
	return nil // a pipe or a socket of a process that is gone
}

func placeFile(from string, root *os.Root, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	tmp := to + ".lathe-new"
	out, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(mode), out.Close()); err == nil {
		err = root.Rename(tmp, to)
	}
	if err != nil {
		_ = root.Remove(tmp)
	}
	return err
}

// plain takes away what the file system noted of files for itself.
func plain(path string) error {
	return filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case whiteout(info): // in a directory that was made anew
			return os.Remove(at)
		case info.Mode().Type()&(fs.ModeSymlink|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) == 0:
			forget(at)
		}
		return nil
	})
}
