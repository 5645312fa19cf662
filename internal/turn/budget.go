package turn

import "lathe"

// budget is what a turn may use and what it has used. Its use counts against the limits that it
// shares with the turns above and below it.
type budget struct {
	limits Limits
	shared *Spent

	steps  int
	cost   lathe.Money
	tokens lathe.Tokens
}

// step counts a step that is about to begin, or returns the limit that forbids it.
func (b *budget) step() lathe.Failure {
	if f := b.shared.take(b.limits); f != nil {
		return f
	}
	b.steps++
	return nil
}

// left returns the limit of money or tokens that forbids another request, or nil.
func (b *budget) left() lathe.Failure {
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	return b.shared.over(b.limits)
}

// spend counts what an answer used.
func (b *budget) spend(cost lathe.Money, tokens lathe.Tokens) {
	b.cost += cost
	b.tokens = b.tokens.Add(tokens)
	b.shared.add(cost, tokens)
}
