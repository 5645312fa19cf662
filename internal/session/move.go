package session

import (
	"context"
	"errors"
	"io/fs"

	"lathe"
	"lathe/internal/store"
)

// Move lets a session go on in another directory, for instance one imported from
// another machine. What its steps did to files stays where it was and cannot be
// undone from there, so a session that is reverted refuses.
func (s *Service) Move(ctx context.Context, id lathe.SessionID, dir string) (lathe.Session, error) {
	sess, err := s.Get(ctx, id)
	if err != nil {
		return sess, err
	}
	if sess.Revert != nil {
		return sess, lathe.Errorf(lathe.CodeInvalid, "bring back what was reverted first, with: lathe session unrevert", "session %s is reverted", id)
	}
	if s.Status(id) != (lathe.Idle{}) {
		return sess, lathe.Errorf(lathe.CodeBusy, "wait for it, or stop it", "session %s is busy", id)
	}
	if err := s.owed.heldElsewhere(ctx, id); err != nil {
		return sess, err
	}
	inst, err := s.Instance(ctx, dir)
	if err != nil {
		return sess, err
	}
	s.mu.Lock()
	delete(s.runners, id)
	s.mu.Unlock()
	return s.Editor.change(ctx, id, func(sess *lathe.Session) { sess.Directory, sess.ProjectID = dir, inst.Project.ID })
}

// gone explains that a session's directory does not exist.
func gone(err error, sess lathe.Session) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return lathe.Errorf(lathe.CodeInvalid, "make it, or let the session go on in another: lathe session move "+string(sess.ID)+" .",
		"the directory of session %s, %s, is not there", sess.ID, sess.Directory)
}

func busyIn(id lathe.SessionID, by store.Holder) error {
	hint := "wait for it, stop it, or work in a new session"
	if by.Unseen { // it cannot be checked from here
		hint += "; if that machine is gone: lathe session unlock " + string(id)
	}
	return lathe.Errorf(lathe.CodeBusy, hint, "session %s is busy in %s", id, by.Name)
}

// Unlock takes a session away from a process on another machine that a person
// knows to be gone. A process alive on this machine keeps it.
func (s *Service) Unlock(ctx context.Context, id lathe.SessionID) error {
	if _, err := s.Get(ctx, id); err != nil {
		return err
	}
	by, held, err := s.opts.Store.Holder(ctx, id)
	if err != nil || !held {
		return err
	}
	if !by.Unseen {
		return busyIn(id, by)
	}
	return s.opts.Store.BreakLease(ctx, id)
}
