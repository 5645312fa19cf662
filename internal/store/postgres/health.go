package postgres

import (
	"context"

	"lathe"
)

// health is a [store.Health].
type health struct{ *core }

// ReadOnly implements [store.Health]. A database that only reads now may be promoted
// at any time, so it is not asked in advance.
func (health) ReadOnly() bool { return false }

// Trouble implements [store.Health].
func (h health) Trouble() error {
	if t := h.trouble.Load(); t != nil {
		return *t
	}
	return nil
}

// Probe implements [store.Health].
func (h health) Probe(ctx context.Context) error {
	return h.attempt(ctx, func(tx *tx) error {
		// A lock on a row is written, and changes nothing.
		_, err := tx.exec(`SELECT 1 FROM goose_db_version ORDER BY id LIMIT 1 FOR UPDATE`)
		return err
	})
}

// note remembers whether a write found that nothing can be stored.
func (c *core) note(err error) {
	if err == nil {
		if c.trouble.Load() != nil {
			c.trouble.Store(nil)
			c.log.Info("the database can be written again", "database", c.where)
		}
		return
	}
	switch lathe.CodeOf(err) {
	case lathe.CodeFull, lathe.CodeReadOnly, lathe.CodeUnavailable:
		if c.trouble.Swap(&err) == nil {
			c.log.Error("nothing can be stored until the database can be written again", "database", c.where, "err", err)
		}
	}
}
