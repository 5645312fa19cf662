package turn

import (
	"fmt"
	"sync"

	"lathe"
	"lathe/internal/say"
)

// Spent counts what a run has used: its turns and those of the subagents below
// it. It is safe for concurrent use; the zero value is ready.
type Spent struct {
	mu     sync.Mutex
	steps  int
	cost   lathe.Money
	tokens lathe.Tokens
}

// take counts a step that is about to begin, or returns the limit that forbids it.
func (s *Spent) take(l Limits) lathe.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.Steps > 0 && s.steps >= l.Steps {
		return &lathe.LimitFailure{Limit: "steps", Message: "the limit of " + say.Plural(l.Steps, "step") + " was reached"}
	}
	if f := s.over(l); f != nil {
		return f
	}
	s.steps++
	return nil
}

// over returns the limit of money or tokens that was reached, or nil. The caller holds mu.
func (s *Spent) over(l Limits) lathe.Failure {
	switch {
	case l.Cost > 0 && s.cost >= l.Cost:
		return &lathe.LimitFailure{Limit: "cost", Message: fmt.Sprintf("the budget of %s is used up (%s)", l.Cost, s.cost)}
	case l.Tokens > 0 && s.tokens.Total() >= l.Tokens:
		return &lathe.LimitFailure{Limit: "tokens", Message: fmt.Sprintf("the budget of %d tokens is used up (%d)", l.Tokens, s.tokens.Total())}
	}
	return nil
}

// add counts what a step used.
func (s *Spent) add(cost lathe.Money, tokens lathe.Tokens) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cost += cost
	s.tokens = s.tokens.Add(tokens)
}

// Add counts what was used beside the turns, such as for a title.
func (s *Spent) Add(cost lathe.Money, tokens lathe.Tokens) { s.add(cost, tokens) }

// Total returns what was used so far.
func (s *Spent) Total() (steps int, cost lathe.Money, tokens lathe.Tokens) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps, s.cost, s.tokens
}
