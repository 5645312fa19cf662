package turn

import (
	"context"

	"lathe"
	"lathe/internal/compact"
)

// leastKept is how many tokens have to be left for the beginnings of a step's results to be worth
// keeping.
const leastKept = 800

// tail returns where in the history the messages begin that stay word for word after a compaction
// whose own messages weigh summary tokens. What the model has not seen stays, and so does as much
// of the newest steps as fits: the first step that does not fit whole is kept with its results cut.
func (c *compactor) tail(ctx context.Context, summary int64) (int, lathe.Failure) {
	head := c.load.fixed + summary
	most := c.load.usable * 8 / 10
	budget := c.Context.TailBudget(c.load.usable)
	room := budget // for what the model has not seen
	if c.load.usable > 0 {
		if head >= most {
			return 0, c.tooLarge(c.load, "even with a summary in place of the conversation")
		}
		room = most - head
		budget = min(budget, room)
	}
	kept := c.stays(budget)
	at, left := kept.Next, kept.Left
	if n := c.unseen(); n >= 0 && n < kept.Start {
		at, left = n, room
	} else if at < 0 || left < leastKept || !c.fitsCut(at, left) {
		return kept.Start, nil
	}
	fits, err := c.cutResults(ctx, at, left)
	if err != nil {
		return 0, classify(ctx, err, c.modelRef())
	}
	if fits {
		return at, nil
	}
	return kept.Start, nil
}

// fitsCut reports whether a message with its results cut would fit a budget of tokens.
func (c *compactor) fitsCut(i int, budget int64) bool {
	if !called(&c.History[i]) {
		return false
	}
	_, cut := c.planCut(&c.History[i], budget)
	return c.weighs(&cut) <= budget
}

// stays returns which messages stay within a budget of tokens.
func (c *compactor) stays(budget int64) compact.Kept {
	turns := 0
	if c.Context.TailTurns != nil {
		turns = *c.Context.TailTurns
	}
	return compact.Tail(c.History, turns, budget, c.weighs)
}

// staying returns the messages that will stay word for word, as far as that is known before there
// is a summary. The summariser need not be shown all of them.
func (c *compactor) staying() map[lathe.MessageID]bool {
	out := map[lathe.MessageID]bool{}
	for _, m := range c.History[c.stays(c.Context.TailBudget(c.load.usable)).Start:] {
		out[m.ID] = true
	}
	return out
}
