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
			err = s.heldElsewhere(ctx, sess.ID)
		}
	}
	return err
}
