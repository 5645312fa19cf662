package session

import (
	"context"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
)

// Delete ends a session's running turn, then removes it and its children with everything that
// belongs to them. Prompts that are waiting for an answer fail because the session is gone.
func (s *Service) Delete(ctx context.Context, id lathe.SessionID) error {
	if _, err := s.Get(ctx, id); err != nil {
		return err
	}
	t := tree{s}
	all, err := t.below(ctx, id)
	if err != nil {
		return err
	}
	for _, one := range all {
		if r := s.known(one); r != nil {
			r.beginRemoval()
		}
	}
	err = t.delete(ctx, id)
	for _, one := range all {
		t.endRemoval(one, err == nil)
		if err == nil {
			s.endJobs(one)
		}
	}
	return err
}

// beginRemoval keeps new work away from a session. Waiting prompts are answered once it is known
// whether the session is gone.
func (r *runner) beginRemoval() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removing = true
}

// isGone returns the error for anything that reaches a session after it was deleted.
func (r *runner) isGone() error {
	return lathe.Errorf(lathe.CodeNotFound, "", "session %s was deleted", r.current().ID)
}

// tree works on a session and all below it.
type tree struct{ s *Service }

func (t tree) delete(ctx context.Context, id lathe.SessionID) error {
	if err := t.stop(ctx, id); err != nil {
		return err
	}
	if err := t.s.Shares.UnshareTree(ctx, id); err != nil {
		return err
	}
	return t.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		gone, err := tx.DeleteSession(id)
		for _, sess := range gone {
			tx.Tell(sess.Directory, lathe.SessionDeleted{Session: sess})
		}
		return err
	})
}

// below returns a session and all below it.
func (t tree) below(ctx context.Context, id lathe.SessionID) ([]lathe.SessionID, error) {
	out := []lathe.SessionID{id}
	children, err := t.s.opts.Store.Sessions(ctx, store.SessionFilter{ParentID: id})
	if err != nil {
		return nil, err
	}
	for _, c := range children {
		more, err := t.below(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// endRemoval answers the waiting prompts, and forgets a session that is gone.
func (t tree) endRemoval(id lathe.SessionID, gone bool) {
	r := t.s.known(id)
	if r == nil {
		return
	}
	if gone {
		t.s.mu.Lock()
		delete(t.s.runners, id)
		t.s.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range r.untold {
		if gone {
			run.outcome.Last, run.err = nil, r.isGone()
		}
		close(run.done)
	}
	r.removing, r.untold = gone, nil
}

// stop aborts the turns of a session and of those below it, and waits for
// them. It fails for one that another process runs.
func (t tree) stop(ctx context.Context, id lathe.SessionID) error {
	children, err := t.s.opts.Store.Sessions(ctx, store.SessionFilter{ParentID: id})
	if err != nil {
		return err
	}
	for _, c := range children {
		if err := t.stop(ctx, c.ID); err != nil {
			return err
		}
	}
	if err := t.s.owed.heldElsewhere(ctx, id); err != nil {
		return err
	}
	return t.s.Abort(ctx, id)
}
