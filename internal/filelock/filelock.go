// Package filelock keeps processes of lathe from changing a file of theirs at the same time.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

const (
	patience = 10 * time.Second // for whoever holds the lock now
	again    = 15 * time.Millisecond
)

// Lock takes a lock that stands for a file; lock is the file that carries it, made for its
// owner alone, in a directory that exists. It waits ten seconds for another process, or
// less where ctx ends before. The caller unlocks.
func Lock(ctx context.Context, lock, file string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("another process holds the lock"))
	defer cancel()
	l := flock.New(lock, flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, again); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("lock %s: %w", file, err)
	}
	return func() { _ = l.Close() }, nil
}
