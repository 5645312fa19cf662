package snapshot

import "context"

// Foresee says what [Store.Apply] would do without force. It changes nothing.
func (s *Store) Foresee(ctx context.Context, targets []Target) (Applied, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := s.track(ctx)
	if err != nil {
		return Applied{}, err
	}
	out := Applied{Before: now, After: now}
	plan, err := s.plan(ctx, targets, false, &out)
	for _, d := range plan {
		out.Changed = append(out.Changed, s.full(d.path))
	}
	return out, err
}
