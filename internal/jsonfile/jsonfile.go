// Package jsonfile keeps small documents of lathe's own in JSON files: what the person
// decided, answered and agreed to. Several processes may read and change one.
package jsonfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lathe"
	"lathe/internal/filelock"
	"lathe/internal/workspace"
)

// version is that of every document: a file that names another one was written by a
// newer lathe.
const version = 1

// Header is embedded in what a file contains.
type Header struct {
	Version int `json:"version"`
}

func (h *Header) header() *Header { return h }

// Document is a pointer to what a file contains: a struct that embeds [Header].
type Document interface{ header() *Header }

// File is a file with one document, which need not exist. The methods may be used
// concurrently, also by several processes.
type File struct {
	Path string
	Most int64  // how many bytes it may have
	What string // what is in it, as in "trust decisions"
	Lost string // what the person does when it cannot be read any more
	Full string // what the person does when it is full
}

// Read fills an empty document; where there is no file, it stays empty.
func (f File) Read(doc Document) error {
	data, err := workspace.ReadFile(f.Path, f.Most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, doc)
	}
	if v := doc.header().Version; err == nil && v != version {
		err = fmt.Errorf("version %d is not known", v)
	}
	if err != nil {
		return &lathe.Error{Code: lathe.CodeInvalid, Msg: f.What + " in " + f.Path + " cannot be read", Hint: f.Lost, Cause: err}
	}
	return nil
}

// Update reads the file into an empty document and stores what change makes of that. No
// other process changes the file meanwhile; the file is replaced as a whole.
func (f File) Update(ctx context.Context, doc Document, change func()) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return fmt.Errorf("store %s: %w", f.What, err)
	}
	unlock, err := filelock.Lock(ctx, f.Path+".lock", f.Path)
	if err != nil {
		return err
	}
	defer unlock()
	if err := f.Read(doc); err != nil {
		return err
	}
	change()
	doc.header().Version = version
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("store %s: %w", f.What, err)
	}
	if data = append(data, '\n'); int64(len(data)) > f.Most { // it could not be read again
		return lathe.Errorf(lathe.CodeLimit, f.Full, "there is no room in %s for more %s", f.Path, f.What)
	}
	return workspace.WriteFile(f.Path, data, 0o600)
}
