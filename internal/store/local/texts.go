package local

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lathe/internal/store"
)

// Texts are what open parts show while they grow, a file each. A file's name holds
// the part's row and that row's revision: every write of the row takes over what the
// file says and so leaves it behind, whether or not the process lives to remove it.
type Texts struct{ Dir string }

// Text names one text.
type Text struct{ Row, Revision int64 }

func (t Text) String() string {
	return strconv.FormatInt(t.Row, 10) + "-" + strconv.FormatInt(t.Revision, 10)
}

func (x Texts) path(t Text) string { return filepath.Join(x.Dir, t.String()) }

// Size returns how many bytes have been written, and makes the directory for
// the first write.
func (x Texts) Size(t Text) (int64, error) {
	if err := os.MkdirAll(x.Dir, dirMode); err != nil {
		return 0, err
	}
	fi, err := os.Stat(x.path(t))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return fi.Size(), nil
}

// Write puts text at an offset, which is the end of what was written before.
func (x Texts) Write(t Text, at int64, text string) error {
	f, err := os.OpenFile(x.path(t), os.O_WRONLY|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	if _, err = f.Seek(at, io.SeekStart); err == nil {
		_, err = f.WriteString(text)
	}
	return errors.Join(err, f.Close())
}

// Read returns all of it. The error is [fs.ErrNotExist] if nothing was written.
func (x Texts) Read(t Text) ([]byte, error) { return os.ReadFile(x.path(t)) }

// Remove removes a text that a row has taken over. What cannot be removed is left to a sweep.
func (x Texts) Remove(t Text) { os.Remove(x.path(t)) }

// Sweep removes all but those that are live.
func (x Texts) Sweep(live func(Text) bool) (store.Swept, error) {
	return sweep(x.Dir, func(rel string) bool {
		row, revision, _ := strings.Cut(rel, "-")
		n, err1 := strconv.ParseInt(row, 10, 64)
		rev, err2 := strconv.ParseInt(revision, 10, 64)
		return err1 == nil && err2 == nil && live(Text{n, rev})
	})
}
