package session

import (
	"context"
	"errors"

	"lathe/internal/commit"
	"lathe/internal/store"
)

// acceptable fails if ctx is of queued work that is not to be begun here: another worker has it
// by now, or it was stored before and reverted since. Work is not given to another while its
// worker has the session's lease, and what is stored under a lease that is gone is refused: so
// what is true here holds for what the caller stores next.
func (r *runner) acceptable(ctx context.Context) error {
	t, queued := store.TakingOf(ctx)
	if !queued || r.s.opts.Store.Crew == nil {
		return nil
	}
	return r.s.opts.Store.Crew.Acceptable(ctx, t)
}

// accept notes with a prompt that the queued work which ctx is of needs no second one.
func accept(ctx context.Context, tx *commit.Tx) error {
	t, queued := store.TakingOf(ctx)
	to, ok := tx.Tx.(store.Accepter)
	if !queued || !ok {
		return nil
	}
	return to.Accept(t)
}

// accepted notes that the prompt of queued work, if ctx is of any, is stored already: it was
// queued twice, because a client sent it again.
func (r *runner) accepted(ctx context.Context) error {
	err := r.acceptable(ctx)
	if _, queued := store.TakingOf(ctx); queued && err == nil {
		err = r.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error { return accept(ctx, tx) })
	}
	if errors.Is(err, store.ErrLost) { // it is noted, or for another to note
		return nil
	}
	return err
}
