package turn

import "lathe"

// exceeded returns the limit of money or tokens that was reached, or nil.
func (s *Spent) exceeded(l Limits) lathe.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over(l)
}

// spend counts model use that one of the step's calls caused outside the step's own request. It
// goes into the step's cost and counts against the turn's limits, but not into the step's tokens,
// which say how full the window is. The error is the limit that was reached.
func (r *running) spend(cost lathe.Money, tokens lathe.Tokens) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.cost += cost
	r.s.budget.spend(cost, tokens)
	if f := r.s.budget.shared.exceeded(r.s.budget.limits); f != nil {
		return f
	}
	return nil
}
