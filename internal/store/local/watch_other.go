//go:build !linux

package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// lookEvery is how often files are looked at where the system does not tell of changes cheaply.
const lookEvery = 2 * time.Second

// Watch calls changed when files of a directory whose names begin with a prefix were written,
// by any process, until the context ends.
func Watch(ctx context.Context, dir, prefix string, _ time.Duration, changed func()) error {
	var last time.Time
	for first := true; ; first = false {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return &os.PathError{Op: "watch", Path: filepath.Clean(dir), Err: err}
		}
		newest := last
		for _, e := range entries {
			if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), prefix) && info.ModTime().After(newest) {
				newest = info.ModTime()
			}
		}
		if newest.After(last) && !first {
			changed()
		}
		last = newest
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
