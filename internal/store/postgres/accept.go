package postgres

import (
	"context"
	"fmt"

	"lathe"
	"lathe/internal/store"
)

// acceptable is the condition that worker $2 has work $1, and that it was not stored yet.
const acceptable = `n = $1 AND taker = $2 AND ended IS NULL AND NOT accepted`

// Acceptable implements [store.Crew].
func (c crew) Acceptable(ctx context.Context, t store.Taking) error {
	var yes bool
	err := c.glance(ctx, func(v *view) error {
		return v.row(`SELECT EXISTS (SELECT 1 FROM work WHERE `+acceptable+`)`, t.N, t.By).Scan(&yes)
	})
	if err != nil {
		return fmt.Errorf("look at work %d: %w", t.N, err)
	}
	if !yes {
		return errAccepted
	}
	return nil
}

// errAccepted means that work is not to be begun.
var errAccepted = wrapped(lathe.CodeAborted, "ask again if it is still wanted", store.ErrLost, "this was begun before, or another worker has it now")

// Accept implements [store.Accepter].
func (tx *tx) Accept(t store.Taking) error {
	tx.pipe.later(statement{query: oneRow(`UPDATE work SET accepted = true WHERE ` + acceptable), args: []any{t.N, t.By}, none: errAccepted})
	return nil
}
