package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"lathe/internal/store"
)

// A transaction that writes to one session, which this server holds, and that needs no answer before
// it ends, is one message, from BEGIN to COMMIT. Nobody knows its number then: if its answer is
// lost, the lease gets another number, by which it ends or is refused, and its first event, which
// is like no other, is there or it is not.

// alone returns what a transaction knows of the only session it writes to, if it can be
// sent as one message; else nil.
func (tx *tx) alone() *memory {
	if tx.pipe.begun || tx.noted == nil || tx.noted.mark || len(tx.mine) != 1 {
		return nil
	}
	for _, m := range tx.mine {
		return m
	}
	return nil
}

// commitWhole sends the transaction and reads what became of it.
func (tx *tx) commitWhole(m *memory) error {
	tx.noted.queue(tx.pipe)
	tx.ended = true
	tag, err := tx.pipe.whole(tx.ctx)
	switch {
	case err == nil && tag.String() == "ROLLBACK":
		return errors.New("commit: a statement of the transaction had failed")
	case err != nil && away(err):
		return tx.wholeOutcome(m, err)
	case err != nil:
		return err
	}
	tx.after = append(tx.after, tx.noted.settle)
	return nil
}

// wholeOutcome finds out what became of the transaction when its answer was lost.
func (tx *tx) wholeOutcome(m *memory, lost error) error {
	ctx, cancel := tx.db.settling(tx.ctx)
	defer cancel()
	tx.pipe.end(ctx) // there may be no second connection
	if err := m.lease.renew(ctx); err != nil {
		return fmt.Errorf("commit: %w; what became of it is not known: %v", lost, err) // that err was undone says nothing of it
	}
	if err := tx.noted.there(ctx); err != nil {
		return fmt.Errorf("commit: %w", errors.Join(lost, err))
	}
	tx.after = append(tx.after, tx.noted.recall)
	return nil
}

// there reports whether what a transaction noted is stored, which has ended.
func (n *noted) there(ctx context.Context) error {
	var some bool
	err := n.db.glance(ctx, func(v *view) error {
		return v.row(`SELECT EXISTS (SELECT 1 FROM event WHERE n > $1 AND origin = $2 AND data = $3)`,
			n.seen, n.db.heart.self.ID, n.rows[0].data).Scan(&some)
	})
	if err == nil && !some {
		err = store.ErrUndone
	}
	return err
}

// signed adds to the document of an event what no other event has: together with the server that
// told it, the how many-th transaction it is of.
func (c *core) signed(doc []byte) []byte {
	last := len(doc) - 1
	sign := strconv.AppendInt([]byte(`"commit":`), c.commits.Add(1), 10)
	if doc[last-1] != '{' {
		sign = append([]byte(","), sign...)
	}
	return append(append(doc[:last:last], sign...), '}')
}

// whole sends what waits as a transaction of its own, and returns what COMMIT answers.
func (p *pipe) whole(ctx context.Context) (tag pgconn.CommandTag, err error) {
	b := &pgx.Batch{}
	b.Queue(beginWrite)
	for i := range p.waiting {
		b.Queue(p.waiting[i].query, p.waiting[i].args...)
	}
	b.Queue("COMMIT")
	p.begun = true
	waiting := p.waiting
	p.waiting = nil
	br := p.conn.SendBatch(ctx, b)
	defer func() {
		if shut := br.Close(); err == nil {
			err = shut
		}
	}()
	if _, err := br.Exec(); err != nil {
		return tag, err
	}
	for i := range waiting {
		if err := waiting[i].settle(br); err != nil {
			return tag, err
		}
	}
	return br.Exec()
}
