package job

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Copy writes what is kept of the output; with follow it continues until the job or
// its keeper ends, or ctx does.
func (k *Kept) Copy(ctx context.Context, w io.Writer, follow bool) error {
	var changed *watch
	if follow && k.Running() {
		var err error
		if changed, err = watchDir(ctx, k.dir, k.keeper); err != nil {
			return err
		}
		defer changed.close()
	}
	path := filepath.Join(k.dir, keptOutput)
	if err := copyFile(w, path+older); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { f.Close() }()
	for {
		if _, err := io.Copy(w, f); err != nil {
			return err
		}
		if f, err = newest(w, f, path); err != nil || changed == nil || ctx.Err() != nil {
			return err
		}
		if !changed.next() {
			changed = nil // once more, for what came last
		}
	}
}

// newest returns the file to read on from: another one when a segment is full.
func newest(w io.Writer, f *os.File, path string) (*os.File, error) {
	was, err := f.Stat()
	if err != nil {
		return f, err
	}
	is, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(was, is) {
		return f, nil
	}
	next, err := os.Open(path)
	if err != nil {
		return f, err
	}
	_, err = io.Copy(w, f) // what came before the change
	f.Close()
	if err == nil {
		_, err = io.Copy(w, next)
	}
	return next, err
}

func copyFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
