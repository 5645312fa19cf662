//go:build !unix

package search

import (
	"io/fs"
	"os"
	"time"
)

// regularFile is an open file with the information from when it was opened.
type regularFile struct {
	*os.File
	size int64
	mod  time.Time
}

// openRegular opens a file, and refuses what is not a regular one. The caller
// closes it.
func openRegular(name string) (*regularFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &regularFile{f, info.Size(), info.ModTime()}, nil
}
