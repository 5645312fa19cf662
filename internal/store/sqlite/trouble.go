package sqlite

import (
	"context"
	"fmt"

	"lathe"
)

// health is a [store.Health].
type health struct{ *core }

// ReadOnly implements [store.Health].
func (s health) ReadOnly() bool { return s.onlyReads }

// Trouble returns why nothing can be stored at the moment: a [store.ErrFull] or a
// [store.ErrReadOnly]. It is nil again after the next write that succeeds; see
// Probe.
func (s health) Trouble() error {
	if t := s.trouble.Load(); t != nil {
		return *t
	}
	return nil
}

// Probe finds out whether the store can be written, with a write that changes nothing.
func (s health) Probe(ctx context.Context) error {
	return s.batch(ctx, func(tx *tx) error {
		// The version is in the header, so its page is written even though it stays the same.
		_, err := tx.exec(fmt.Sprintf("PRAGMA user_version = %d", schema))
		return err
	})
}

// note remembers whether a write found the disk full or not writable.
func (s *core) note(err error) {
	if err == nil {
		if s.trouble.Load() != nil {
			s.trouble.Store(nil)
			s.log.Info("the data directory can be written again", "dir", s.dir)
		}
		return
	}
	if code := lathe.CodeOf(err); code != lathe.CodeFull && code != lathe.CodeReadOnly {
		return
	}
	if s.trouble.Swap(&err) == nil {
		s.log.Error("nothing can be stored until the data directory can be written again", "dir", s.dir, "err", err)
	}
}
