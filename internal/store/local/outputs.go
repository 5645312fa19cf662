package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"lathe"
	"lathe/internal/order"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// OutputsDir is the name of the directory, below the data directory, that holds
// the full text of outputs that were cut.
const OutputsDir = "tool-output"

// How long outputs are kept, and how many bytes of them, unless [Outputs] says otherwise.
const (
	KeepOutputs = 7 * 24 * time.Hour
	MaxOutputs  = 1 << 30
)

// Outputs are the full text of outputs that were cut, a file each. A session has a
// directory of its own. A zero number means the default.
type Outputs struct {
	Dir       string        // absolute; made when first needed
	Retention time.Duration // age at which Clean removes a file
	MaxTotal  int64         // bytes that Clean leaves at most, newest files first
	IDs       *lathe.IDs    // nil: a new source for each file
	Now       func() time.Time
}

// In returns outputs in a directory of their own, below this one. An empty name is
// the directory itself.
func (o Outputs) In(name string) Outputs {
	if name != "" && o.Dir != "" {
		o.Dir = filepath.Join(o.Dir, name)
	}
	return o
}

// Save writes the text to a new spill file and returns its path.
func (o Outputs) Save(text string) (string, error) {
	f, err := o.Create()
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("save tool output: %w", err)
	}
	return f.Name(), nil
}

// Create opens a new spill file, readable by its owner only. The caller closes it.
func (o Outputs) Create() (*os.File, error) {
	if o.Dir == "" {
		return nil, errors.New("save tool output: no directory is set for it")
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("save tool output: %w", err)
	}
	ids := o.IDs
	if ids == nil {
		ids = lathe.NewIDs(o.Now, nil)
	}
	path := filepath.Join(o.Dir, ids.New(lathe.PrefixTool))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(o.Dir, 0o700) == nil { // a concurrent Clean has removed the directory
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("save tool output: %w", err)
	}
	return f, nil
}

// Cleaned is what one [Outputs.Clean] did.
type Cleaned struct {
	Removed, Left           int
	RemovedBytes, LeftBytes int64
}

// Clean removes spill files older than the retention, then the oldest until the
// rest fits the total. Files that are not spill files are left alone. Run it in
// the background about once an hour; it may run while tools do.
func (o Outputs) Clean(ctx context.Context) (Cleaned, error) {
	files, err := o.spilled()
	if err != nil {
		return Cleaned{}, err
	}
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	cutoff := now().Add(-cmp.Or(o.Retention, KeepOutputs))
	room := cmp.Or(o.MaxTotal, MaxOutputs)
	var done Cleaned
	var errs []error
	for _, f := range files { // newest first
		if ctx.Err() != nil {
			return done, context.Cause(ctx)
		}
		if !f.ModTime().Before(cutoff) && f.Size() <= room {
			room -= f.Size()
			done.Left++
			done.LeftBytes += f.Size()
			continue
		}
		if !f.ModTime().Before(cutoff) {
			room = 0 // older files are removed too: only the newest stay
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		if dir := filepath.Dir(f.path); dir != o.Dir {
			_ = os.Remove(dir) // succeeds when the directory is empty
		}
		done.Removed++
		done.RemovedBytes += f.Size()
	}
	return done, errors.Join(errs...)
}

// spillFile is a spill file and its path.
type spillFile struct {
	fs.FileInfo
	path string
}

// spilled lists the spill files, newest first: those in the directory itself, and
// those in the directories of sessions.
func (o Outputs) spilled() ([]spillFile, error) {
	entries, err := os.ReadDir(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("clean tool output: %w", err)
	}
	var files []spillFile
	add := func(dir string, e fs.DirEntry) {
		if !strings.HasPrefix(e.Name(), lathe.PrefixTool+"_") || !e.Type().IsRegular() {
			return
		}
		if info, err := e.Info(); err == nil { // gone in the meantime
			files = append(files, spillFile{info, filepath.Join(dir, e.Name())})
		}
	}
	for _, e := range entries {
		if add(o.Dir, e); !e.IsDir() || !strings.HasPrefix(e.Name(), lathe.PrefixSession+"_") {
			continue
		}
		dir := filepath.Join(o.Dir, e.Name())
		below, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("clean tool output: %w", err)
		}
		for _, e := range below {
			add(dir, e)
		}
	}
	order.Stable(files, func(a, b spillFile) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(b.Name(), a.Name()))
	})
	return files, nil
}
