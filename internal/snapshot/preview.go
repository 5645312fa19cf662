package snapshot

import "context"

// Preview says what [Store.Apply] would change and what it would keep, and changes
// nothing in the worktree.
func (s *Store) Preview(ctx context.Context, targets []Target, force bool) (Applied, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := s.track(ctx)
	if err != nil {
		return Applied{}, err
	}
	out := Applied{Before: before, After: before}
	plan, err := s.plan(ctx, targets, force, &out)
	for _, d := range plan {
		out.Changed = append(out.Changed, s.full(d.path))
	}
	return out, err
}
