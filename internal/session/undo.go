package session

import (
	"cmp"
	"context"
	"time"

	"lathe"
	"lathe/internal/undo"
)

// Undo undoes what sessions did to files, and redoes it. It refuses while the
// session is busy.
type Undo struct{ s *Service }

// Revert undoes what the session's steps did to files from a message or part on, and
// hides the messages. They stay until the next prompt, and [Undo.Unrevert] brings all
// of it back. A whole turn is undone at a time, unless the named part is preceded by
// text or tool calls in its message. It fails while the session is busy. A turn that another
// server was to go on with is taken back as well, and does not go on.
func (u *Undo) Revert(ctx context.Context, id lathe.SessionID, in undo.Input) (out undo.Result, err error) {
	if err := u.awaitBegun(ctx, id); err != nil {
		return out, err
	}
	err = u.s.alone(ctx, id, func(r *runner, sess lathe.Session) (err error) {
		if pending, err := u.pending(ctx, id); err != nil || pending {
			return cmp.Or(err, errBusy(id))
		}
		if out, err = r.changes.Revert(ctx, sess, in); err != nil {
			return err
		}
		return r.stopLeft(ctx)
	})
	return out, err
}

// pending reports whether the session was asked something that no worker has begun: that would
// bring back what is taken back.
func (u *Undo) pending(ctx context.Context, id lathe.SessionID) (bool, error) {
	q := u.s.opts.Store.Queue
	if q == nil {
		return false, nil
	}
	return q.Pending(ctx, id)
}

const (
	// beginTime bounds how long a revert waits for what was queued for the session. What has just
	// ended is there for a moment longer.
	beginTime = 2 * time.Second
	beginStep = 50 * time.Millisecond
)

// awaitBegun waits until nothing is pending, for a while.
func (u *Undo) awaitBegun(ctx context.Context, id lathe.SessionID) error {
	ctx, cancel := context.WithTimeout(ctx, beginTime)
	defer cancel()
	for {
		if pending, err := u.pending(ctx, id); err != nil || !pending {
			return err
		}
		select {
		case <-time.After(beginStep):
		case <-ctx.Done():
			return errBusy(id)
		}
	}
}

// Preview says what [Undo.Revert] would change and keep; see [undo.Changes.Preview]. It fails
// while the session is busy.
func (u *Undo) Preview(ctx context.Context, id lathe.SessionID, in undo.Input) (undo.Result, error) {
	var out undo.Result
	err := u.s.alone(ctx, id, func(r *runner, sess lathe.Session) (err error) {
		out, err = r.changes.Preview(ctx, sess, in)
		return err
	})
	return out, err
}

// Unrevert restores what [Undo.Revert] undid. A session that is not reverted
// stays as it is.
func (u *Undo) Unrevert(ctx context.Context, id lathe.SessionID, force bool) (undo.Result, error) {
	var out undo.Result
	err := u.s.alone(ctx, id, func(r *runner, sess lathe.Session) (err error) {
		out, err = r.changes.Unrevert(ctx, sess, force)
		return err
	})
	return out, err
}

// ForkFiles restores what a fork with its files changed in the worktree. It
// does nothing for other sessions.
func (u *Undo) ForkFiles(ctx context.Context, id lathe.SessionID, force bool) (out undo.Result, err error) {
	err = u.s.alone(ctx, id, func(r *runner, sess lathe.Session) (err error) {
		out, err = r.changes.UndoRewind(ctx, sess, force)
		return err
	})
	return out, err
}
