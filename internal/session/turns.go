package session

import (
	"context"

	"lathe"
)

// Turns are the turns running in this process.
type Turns struct{ s *Service }

// Running returns how many sessions have a running turn.
func (t *Turns) Running() int { return len(t.running()) }

func (t *Turns) running() []*work {
	t.s.mu.Lock()
	runners := make([]*runner, 0, len(t.s.runners))
	for _, r := range t.s.runners {
		runners = append(runners, r)
	}
	t.s.mu.Unlock()
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

// here reports whether a turn of a session runs in this process.
func (t *Turns) here(id lathe.SessionID) bool {
	r := t.s.known(id)
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.work != nil
}

// Drain returns when no turn is running any more, or with the cause of ctx. The
// caller has to keep new ones from starting.
func (t *Turns) Drain(ctx context.Context) error {
	for {
		all := t.running()
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

// Settle returns when no turn of a session runs in this process, or with the cause of ctx.
func (t *Turns) Settle(ctx context.Context, id lathe.SessionID) error {
	for {
		r := t.s.known(id)
		if r == nil {
			return nil
		}
		r.mu.Lock()
		j := r.work
		r.mu.Unlock()
		if j == nil {
			return nil
		}
		select {
		case <-j.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
