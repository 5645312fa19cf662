package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrMoved means that a path that was resolved earlier now leads elsewhere: a
// symbolic link has replaced a part of it.
var ErrMoved = errors.New("a symbolic link has taken the place of a part of the path")

// OpenReal is [Open] for a path that [Resolve] returned: what is opened is what was
// judged by that path. It follows no symbolic link and fails with [ErrMoved] where
// one has appeared since.
func OpenReal(real string) (*os.File, fs.FileInfo, error) {
	info, err := os.Lstat(real)
	if err != nil {
		return nil, nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, nil, &fs.PathError{Op: "open", Path: real, Err: ErrMoved}
	}
	if err := regular(real, info); err != nil {
		return nil, nil, err
	}
	f, err := openReal(real, os.O_RDONLY|openFlags)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = regular(real, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadReal is [ReadFile] by [OpenReal].
func ReadReal(real string, limit int64) ([]byte, error) { return readFrom(OpenReal, real, limit) }

// WriteReal is [WriteFile] for a path that [Resolve] returned; see [OpenReal].
func WriteReal(real string, data []byte, mode fs.FileMode) error {
	now, err := Resolve(real)
	if err == nil && now != filepath.Clean(real) {
		err = &fs.PathError{Op: "open", Path: real, Err: ErrMoved}
	}
	if err == nil {
		err = writeReal(now, data, mode)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", real, err)
	}
	return nil
}

// RemoveReal removes the file with a path that [Resolve] returned; see [OpenReal].
func RemoveReal(real string) error {
	dir, err := openRoot(filepath.Dir(real))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(filepath.Base(real))
}

// ReadDirReal returns all entries of a directory with a path that [Resolve] returned,
// sorted by name; see [OpenReal].
func ReadDirReal(real string) ([]fs.DirEntry, error) {
	dir, err := openRoot(real)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return fs.ReadDir(dir.FS(), ".")
}

// rootOf opens the directory of a resolved path, and makes it if it is not there.
func rootOf(real string) (*os.Root, error) {
	dir := filepath.Dir(real)
	have := dir
	for {
		_, err := os.Lstat(have)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || filepath.Dir(have) == have {
			break
		}
		have = filepath.Dir(have)
	}
	root, err := openRoot(have)
	if err != nil || have == dir {
		return root, err
	}
	defer root.Close()
	rest := strings.Trim(dir[len(have):], string(filepath.Separator))
	if err := root.MkdirAll(rest, 0o755); err != nil {
		return nil, err
	}
	return root.OpenRoot(rest)
}

// checkReal opens by name and compares afterwards, where the system cannot be told to
// follow no link.
func checkReal(real string, flags int) (*os.File, error) {
	f, err := os.OpenFile(real, flags|noFollow, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil {
		err = sameReal(real, opened)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func checkRoot(real string) (*os.Root, error) {
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil {
		err = sameReal(real, opened)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

func sameReal(real string, opened fs.FileInfo) error {
	now, err := Resolve(real)
	if err != nil {
		return err
	}
	info, err := os.Lstat(real)
	if err != nil {
		return err
	}
	if now != filepath.Clean(real) || !os.SameFile(info, opened) {
		return &fs.PathError{Op: "open", Path: real, Err: ErrMoved}
	}
	return nil
}

// moved says in our own words that a link is in the way.
func moved(real string, err error) error {
	if errors.Is(err, syscall.ELOOP) {
		return &fs.PathError{Op: "open", Path: real, Err: ErrMoved}
	}
	return err
}
