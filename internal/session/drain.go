package session

import "context"

// Running returns how many sessions have a turn in this process.
func (s *Service) Running() int { return len(s.running()) }

func (s *Service) running() []*work {
	s.mu.Lock()
	runners := make([]*runner, 0, len(s.runners))
	for _, r := range s.runners {
		runners = append(runners, r)
	}
	s.mu.Unlock()
	var out []*work
	for _, r := range runners {
		r.mu.Lock()
		if r.work != nil {
			out = append(out, r.work)
		}
		r.mu.Unlock()
	}
	return out
}

// Drain returns when no turn runs any more, or with the cause of ctx. Somebody
// else keeps new ones from starting.
func (s *Service) Drain(ctx context.Context) error {
	for {
		all := s.running()
		if len(all) == 0 {
			return nil
		}
		for _, j := range all {
			select {
			case <-j.done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}
