package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWatch holds that a write is told, and that the watch ends with its context.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	told, done := make(chan struct{}, 100), make(chan error, 1)
	go func() {
		done <- Watch(ctx, dir, "data", time.Millisecond, func() { told <- struct{}{} })
	}()
	write := time.NewTicker(20 * time.Millisecond) // the watch may not have begun
	defer write.Stop()
	for waiting := true; waiting; {
		select {
		case <-told:
			waiting = false
		case <-write.C:
			if err := os.WriteFile(filepath.Join(dir, "data-wal"), []byte(time.Now().String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	if err := Watch(t.Context(), filepath.Join(dir, "none"), "data", 0, nil); err == nil {
		t.Error("a directory that is not there is watched")
	}
}
