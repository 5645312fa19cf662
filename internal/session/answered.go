package session

import (
	"context"

	"lathe"
)

// Answered tells what became of a prompt that another server took, as far as it is stored;
// running says that its session is still worked on, or that the prompt waits for a worker. The
// run is nil if there is no answer to it.
func (s *Service) Answered(ctx context.Context, id lathe.SessionID, m lathe.MessageID) (run *Run, running bool, err error) {
	if q := s.opts.Store.Queue; q != nil {
		if running, err = q.Open(ctx, id); running || err != nil {
			return nil, running, err
		}
	}
	if _, running, err = s.opts.Store.Holder(ctx, id); running || err != nil {
		return nil, running, err
	}
	stored, err := s.opts.Store.Message(ctx, id, m)
	if err != nil {
		return nil, false, err
	}
	left, err := wasLeft(ctx, s.opts.Store, id, m)
	if err != nil {
		return nil, false, err
	}
	run, err = answered(ctx, s.opts.Store, stored)
	if left && (run == nil || s.opts.Now().Sub(run.Last().Created) < tooLate) {
		return nil, true, err // somebody is about to go on with it
	}
	return run, false, err
}
