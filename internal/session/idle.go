package session

import (
	"context"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/workspace"
)

// IdleBelow returns an error while a session works in a directory or below it.
func (s *Service) IdleBelow(ctx context.Context, top string) error {
	var ids []lathe.SessionID
	s.mu.Lock()
	for id, r := range s.runners {
		if workspace.Within(top, r.inst.Root.Dir) {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	for _, id := range ids {
		if s.Status(id) != (lathe.Idle{}) {
			return lathe.Errorf(lathe.CodeBusy, "wait for it, or stop it", "session %s is busy in %s", id, top)
		}
	}
	list, err := s.opts.Store.Sessions(ctx, store.SessionFilter{Directory: top})
	for _, sess := range list {
		if err == nil {
			err = s.owed.heldElsewhere(ctx, sess.ID)
		}
	}
	return err
}

// whileIdle runs fn while no turn of the session can start in this process.
func (s *Service) whileIdle(ctx context.Context, id lathe.SessionID, fn func(lathe.Session) error) error {
	r, err := s.runner(ctx, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work != nil {
		return errBusy(id)
	}
	sess, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	return fn(sess)
}

func errBusy(id lathe.SessionID) error {
	return lathe.Errorf(lathe.CodeBusy, "wait for it, or stop it", "Session %s is busy", id)
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
