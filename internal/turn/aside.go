package turn

import "lathe"

// exceeded returns the limit of money or tokens that was reached; nil: none was.
func (s *Spent) exceeded(l Limits) lathe.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over(l)
}

// spend counts what a model was made to do beside the step, for one of its calls: in the
// step's cost and against the turn's limits, not in its tokens, which tell how full the
// window is. The error is the limit that is reached.
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
