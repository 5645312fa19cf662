package session

import (
	"context"
	"errors"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
)

// CloseInterrupted closes what processes that died left open, in all sessions, so
// that nobody sees a tool that only seems to run. Work of a living process is
// left alone. Call it when a store has been opened.
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
// published in dir; if dir is empty, nobody is listening.
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

// sweepAfter removes the temporary files with which a session's closed calls were
// about to replace others.
func sweepAfter(ctx context.Context, kept *store.Store, id lathe.SessionID, closed []lathe.Part) {
	if len(closed) == 0 {
		return
	}
	if sess, err := kept.Session(ctx, id); err == nil {
		sweepTemps(sess.Directory, closed)
	}
}
