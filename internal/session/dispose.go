package session

import (
	"context"
	"errors"

	"lathe"
)

// Dispose ends what runs in a directory and forgets its instance; the next use makes a new one from
// the files as they are then. If there is none it does nothing.
func (s *Service) Dispose(ctx context.Context, dir string) error {
	inst := s.Instances.Opened(ctx, dir)
	if inst == nil {
		return context.Cause(ctx)
	}
	s.Instances.Forget(dir)
	s.mu.Lock()
	var ids []lathe.SessionID
	for id, r := range s.runners {
		if r.inst == inst {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, id := range ids {
		errs = append(errs, s.Abort(ctx, id))
		s.mu.Lock()
		if r := s.runners[id]; r != nil && r.inst == inst {
			delete(s.runners, id)
		}
		s.mu.Unlock()
	}
	errs = append(errs, inst.Close())
	s.opts.Writer.Tell(dir, lathe.InstanceDisposed{Directory: dir})
	return errors.Join(errs...)
}

// Failed publishes that a session could not do what was asked, and why.
func (s *Service) Failed(dir string, id lathe.SessionID, f lathe.Failure) {
	s.opts.Writer.Tell(dir, lathe.SessionFailed{SessionID: id, Failure: f})
}
