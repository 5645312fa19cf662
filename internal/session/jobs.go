package session

import (
	"context"

	"lathe"
)

// JobOwner returns the session that owns the jobs of a session's calls: a
// subagent's jobs belong to the session it works for.
func (s sessions) JobOwner(ctx context.Context, id lathe.SessionID) lathe.SessionID {
	sess, err := s.opts.Store.Session(ctx, id)
	if err != nil {
		return id
	}
	return top(ctx, s.opts.Store, sess).ID
}

func (s *Service) endJobs(id lathe.SessionID) {
	if s.opts.Jobs != nil {
		s.opts.Jobs.End(id)
	}
}
