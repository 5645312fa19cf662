package filelock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// TestLock holds that one at a time has the lock, and what the others are told.
func TestLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	unlock, err := Lock(t.Context(), file+".lock", file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file + ".lock"); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the lock's file: %v, %v", info, err)
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := Lock(t.Context(), file+".lock", file); err == nil || !strings.Contains(err.Error(), file+": another process holds the lock") {
			t.Errorf("a second one: %v", err)
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		if _, err := Lock(ctx, file+".lock", file); !errors.Is(err, gone) {
			t.Errorf("one that left: %v", err)
		}
	})
	unlock()
	unlock, err = Lock(t.Context(), file+".lock", file)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
