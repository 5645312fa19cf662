package session

import "context"

// Running returns how many sessions have a turn in this process.
func (s *Service) Running() int { return len(s.running()) }

func (s *Service) running() []*job {
	s.mu.Lock()
	runners := make([]*runner, 0, len(s.runners))
	for _, r := range s.runners {
		runners = append(runners, r)
	}
	s.mu.Unlock()
	var out []*job
	for _, r := range runners {
		r.mu.Lock()
		if r.job != nil {
			out = append(out, r.job)
		}
		r.mu.Unlock()
	}
	return out
}

// Drain returns when no turn runs any more, or with the cause of ctx. Somebody
// else keeps new ones from starting.
func (s *Service) Drain(ctx context.Context) error {
	for {
		jobs := s.running()
		if len(jobs) == 0 {
			return nil
		}
		for _, j := range jobs {
			select {
			case <-j.done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}
