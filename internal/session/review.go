package session

import (
	"context"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/undo"
)

// Review returns what each prompt of a session changed; see [undo.Changes.Review].
func (u *Undo) Review(ctx context.Context, id lathe.SessionID) ([]api.Reviewed, error) {
	r, err := u.s.runner(ctx, id)
	if err != nil {
		return nil, err
	}
	sess, err := u.s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.changes.Review(ctx, sess)
}

// Between returns what a session changed from one prompt on until before another one.
func (u *Undo) Between(ctx context.Context, id lathe.SessionID, from, to lathe.MessageID) ([]api.ReviewedFile, error) {
	r, err := u.s.runner(ctx, id)
	if err != nil {
		return nil, err
	}
	sess, err := u.s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.changes.Between(ctx, sess, from, to)
}

// Stage puts what a session changed into git's index; see [undo.Changes.Stage]. The session may
// be busy.
func (u *Undo) Stage(ctx context.Context, id lathe.SessionID, in api.Stage) (api.Staged, error) {
	r, err := u.s.runner(ctx, id)
	if err != nil {
		return api.Staged{}, err
	}
	sess, err := u.s.Get(ctx, id)
	if err != nil {
		return api.Staged{}, err
	}
	return r.changes.Stage(ctx, sess, in)
}

// TakeBack takes changes of one prompt back and keeps what came after them. It refuses while
// the session is busy.
func (u *Undo) TakeBack(ctx context.Context, id lathe.SessionID, in api.TakeBack) (out undo.Result, err error) {
	err = u.s.alone(ctx, id, func(r *runner, sess lathe.Session) (err error) {
		out, err = r.changes.TakeBack(ctx, sess, in)
		return err
	})
	return out, err
}
