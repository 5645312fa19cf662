package session

import (
	"context"

	"lathe"
	"lathe/internal/undo"
)

// Undo undoes what sessions did to files, and redoes it. It refuses while the
// session is busy.
type Undo struct{ s *Service }

// Revert undoes what the session's steps did to files from a message or part on, and
// hides the messages. They stay until the next prompt, and [Undo.Unrevert] brings all
// of it back. A whole turn is undone at a time, unless the named part is preceded by
// text or tool calls in its message. It fails while the session is busy.
func (u *Undo) Revert(ctx context.Context, id lathe.SessionID, in undo.Input) (undo.Result, error) {
	var out undo.Result
	err := u.s.alone(ctx, id, func(r *runner, sess lathe.Session) (err error) {
		out, err = r.changes.Revert(ctx, sess, in)
		return err
	})
	return out, err
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
