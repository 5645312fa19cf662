package session

import (
	"context"
	"errors"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
)

// CloseInterrupted closes what processes that died left open, in all sessions, so
// that nobody is shown a tool that seems to run. What a living process works on
// stays as it is. It is to be called when a store was opened.
func (s *Service) CloseInterrupted(ctx context.Context) error {
	ids, err := s.opts.Store.Unclosed(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		switch parts, err := s.recover(ctx, id, ""); {
		case errors.Is(err, store.ErrBusy):
		case err != nil:
			errs = append(errs, err)
		default:
			s.opts.Log.Info("closed what a process that died had left open", "session", id, "parts", len(parts))
			sweepAfter(ctx, s.opts.Store, id, parts)
		}
	}
	return errors.Join(errs...)
}

// recover closes what an owner that is gone left open in a session. What it closed is
// told in dir; nobody listens where that is empty.
func (s *Service) recover(ctx context.Context, id lathe.SessionID, dir string) (closed []lathe.Part, err error) {
	err = s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		closed, err = tx.Recover(id, s.opts.Owner)
		for _, p := range closed {
			if dir != "" {
				tx.Tell(dir, lathe.PartUpdated{Part: p})
			}
		}
		return err
	})
	return closed, err
}

// sweepAfter removes the files that a session's closed calls were about to put in
// the place of others.
func sweepAfter(ctx context.Context, kept *store.Store, id lathe.SessionID, closed []lathe.Part) {
	if len(closed) == 0 {
		return
	}
	if sess, err := kept.Session(ctx, id); err == nil {
		sweepTemps(sess.Directory, closed)
	}
}
