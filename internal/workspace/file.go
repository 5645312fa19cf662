package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// DefaultLimit is how much ReadFile reads when it is given no limit.
const DefaultLimit = 64 << 20

var (
	// ErrTooLarge means a file is longer than the limit it was read with.
	ErrTooLarge = errors.New("file is too large")
	// ErrNotRegular means a path names a directory, pipe, socket or device.
	ErrNotRegular = errors.New("not a regular file")
)

// Open opens a regular file for reading. Anything else is refused before it is
// opened, since merely opening it can block (a pipe) or have an effect (a
// device), and is checked again afterwards, in case the file was replaced in
// between.
func Open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = regular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadDir returns at most limit entries of a directory, in no order. Unlike
// [os.Open] it does not block if the path is a named pipe.
func ReadDir(path string, limit int) ([]fs.DirEntry, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(limit)
	return entries, ended(err)
}

// ended returns nil for the end of a directory, and any other error as it is.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func regular(path string, info fs.FileInfo) error {
	kind := ""
	switch m := info.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		kind = "is a directory"
	case m&fs.ModeNamedPipe != 0:
		kind = "is a named pipe"
	case m&fs.ModeSocket != 0:
		kind = "is a socket"
	case m&fs.ModeDevice != 0:
		kind = "is a device"
	default:
		kind = "is a special file"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%s: %w", kind, ErrNotRegular)}
}

// ReadFile reads a regular file of at most limit bytes (0: [DefaultLimit]).
// Files whose length is not known beforehand, as in /proc, end at the limit with
// [ErrTooLarge] too; it never reads without end.
func ReadFile(path string, limit int64) ([]byte, error) { return readFrom(Open, path, limit) }

func readFrom(open func(string) (*os.File, fs.FileInfo, error), path string, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	f, info, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("read %s: %d bytes, the limit is %d: %w", path, info.Size(), limit, ErrTooLarge)
	}
	data, err := readAll(f, limit, info.Size())
	if err != nil {
		return nil, fmt.Errorf("read %s: at most %d bytes: %w", path, limit, err)
	}
	return data, nil
}

// WriteFile replaces the content of a file, or creates it and its parent directories.
// After a crash the file has the old content or the new, whole.
//
// The new content is written beside the file, synced, and renamed over it; what a
// process leaves that dies in the meantime is found by [SweepTemps]. An existing file
// keeps its mode and, where we may set it, its owner; mode is for a new file (0:
// 0o644), less the umask. A symbolic link stays and its target is written. Extended
// attributes are not kept.
//
// If a rename is impossible, the file is written in place and so not atomically: when
// it is a mount point, or when it is writable but its directory is not. Other hard
// links of a file keep the old content: they may be in a place that must not be
// written.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	if err := writeFile(path, data, mode); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeFile(path string, data []byte, mode fs.FileMode) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	real, err := Resolve(abs)
	if err != nil {
		return err
	}
	return writeReal(real, data, mode)
}

// writeReal writes a resolved path.
func writeReal(real string, data []byte, mode fs.FileMode) error {
	dir, err := rootOf(real)
	if err != nil {
		return err
	}
	defer dir.Close()
	old, err := dir.Lstat(filepath.Base(real))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case old.Mode()&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "open", Path: real, Err: ErrMoved}
	case !old.Mode().IsRegular():
		return regular(real, old)
	case !writable(real):
		return &fs.PathError{Op: "open", Path: real, Err: fs.ErrPermission}
	}
	if mode == 0 {
		mode = 0o644
	}
	err = replace(dir, filepath.Base(real), data, mode.Perm(), old)
	if old != nil && err != nil && mustOverwrite(err) {
		if links(old) > 1 {
			return fmt.Errorf("it has other names (hard links) and cannot be replaced: %w", err)
		}
		return overwrite(real, data)
	}
	return err
}

// replace writes data to a new file and renames it to name.
func replace(dir *os.Root, name string, data []byte, mode fs.FileMode, old fs.FileInfo) (err error) {
	temp := TempName()
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	HoldTemp(f)
	defer func() {
		if err != nil {
			_ = dir.Remove(temp)
		}
	}()
	err = fill(f, data, old)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return dir.Rename(temp, name)
}

func fill(f *os.File, data []byte, old fs.FileInfo) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if old != nil {
		keepOwner(f, old)
		if err := f.Chmod(old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)); err != nil {
			return err
		}
	}
	return f.Sync()
}

func overwrite(path string, data []byte) error {
	f, err := openReal(path, os.O_WRONLY|os.O_TRUNC|openFlags)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
