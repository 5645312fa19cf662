package session

import (
	"context"

	"lathe"
	"lathe/internal/undo"
)

// Revert takes back what the session's steps did to files from a message or part
// on, and hides the messages. They stay until the next prompt, and [Service.Unrevert]
// brings all of it back. A whole turn is undone at a time, unless the part named
// has words or tool calls of its message before it. It fails while the session is busy.
func (s *Service) Revert(ctx context.Context, id lathe.SessionID, in undo.Input) (undo.Result, error) {
	var out undo.Result
	err := s.alone(ctx, id, func(r *runner, sess lathe.Session) (err error) {
		out, err = r.changes.Revert(ctx, sess, in)
		return err
	})
	return out, err
}

// Unrevert brings back what [Service.Revert] took. A session that is not
// reverted stays as it is.
func (s *Service) Unrevert(ctx context.Context, id lathe.SessionID, force bool) (undo.Result, error) {
	var out undo.Result
	err := s.alone(ctx, id, func(r *runner, sess lathe.Session) (err error) {
		out, err = r.changes.Unrevert(ctx, sess, force)
		return err
	})
	return out, err
}

// alone runs fn while no turn of the session runs, here or in another process.
func (s *Service) alone(ctx context.Context, id lathe.SessionID, fn func(*runner, lathe.Session) error) error {
	r, err := s.runner(ctx, id)
	if err != nil {
		return err
	}
	return s.whileIdle(ctx, id, func(lathe.Session) (err error) {
		lease, err := r.acquire(ctx)
		if err != nil {
			return err
		}
		defer r.release(ctx, lease)
		sess, err := s.Get(ctx, id)
		if err != nil {
			return err
		}
		return fn(r, sess)
	})
}

// Diff returns what a session changed, or what the turn changed that answered a
// user message.
func (s *Service) Diff(ctx context.Context, id lathe.SessionID, message lathe.MessageID) ([]lathe.FileDiff, error) {
	if message == "" {
		if _, err := s.Get(ctx, id); err != nil {
			return nil, err
		}
		return s.opts.Store.Diffs(ctx, id, "")
	}
	m, err := s.opts.Store.Message(ctx, id, message)
	if err != nil {
		return nil, err
	}
	if u, ok := m.Info.(*lathe.User); ok && u.Summary != nil {
		return u.Summary.Diffs, nil
	}
	return nil, nil
}

// UndoForkFiles brings back what a fork with its files changed in the worktree. It
// does nothing for other sessions.
func (s *Service) UndoForkFiles(ctx context.Context, id lathe.SessionID, force bool) (out undo.Result, err error) {
	err = s.alone(ctx, id, func(r *runner, sess lathe.Session) (err error) {
		out, err = r.changes.UndoRewind(ctx, sess, force)
		return err
	})
	return out, err
}
