package session

import "context"

// Running returns how many sessions have a turn in this process.
func (s *Service) Running() int { return len(s.running()) }

func (s *Service) running() []*Run {
	s.mu.Lock()
	runners := make([]*runner, 0, len(s.runners))
	for _, r := range s.runners {
		runners = append(runners, r)
	}
	s.mu.Unlock()
	var out []*Run
	for _, r := range runners {
		r.mu.Lock()
		if r.run != nil {
			out = append(out, r.run)
		}
		r.mu.Unlock()
	}
	return out
}

// Drain returns when no turn runs any more, or with the cause of ctx. Somebody
// else keeps new ones from starting.
func (s *Service) Drain(ctx context.Context) error {
	for {
		runs := s.running()
		if len(runs) == 0 {
			return nil
		}
		for _, r := range runs {
			select {
			case <-r.done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}
