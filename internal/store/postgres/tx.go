package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"lathe"
	"lathe/internal/store"
)

// querier is what a transaction needs of a connection.
type querier interface {
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// view reads one consistent state of the database.
type view struct {
	db  *core
	ctx context.Context
	q   querier
}

func (v *view) query(query string, args ...any) (pgx.Rows, error) {
	return v.q.Query(v.ctx, query, args...)
}

func (v *view) row(query string, args ...any) pgx.Row {
	return v.q.QueryRow(v.ctx, query, args...)
}

// rows calls scan for each row of a query.
func (v *view) rows(scan func(pgx.Row) error, query string, args ...any) error {
	rows, err := v.query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// read runs fn on a snapshot.
func (c *core) read(ctx context.Context, fn func(*view) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	b, err := c.begin(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	if err != nil {
		return c.cancelled(ctx, err)
	}
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWork)
	defer cancel()
	defer b.rollback(work)
	return c.explain(fn(&view{db: c, ctx: work, q: b.conn}))
}

// cancelled is the error of a call that could not begin.
func (c *core) cancelled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.explain(err)
}

// tx is a [store.Tx].
type tx struct {
	view
	mine  map[lathe.SessionID]bool // sessions that were found to be still ours
	after []func(context.Context)  // run once it is committed
}

// writer is a [store.Writer].
type writer struct{ *core }

// Batch implements [store.Writer].
func (w writer) Batch(ctx context.Context, fn func(store.Tx) error) error {
	return w.batch(ctx, func(tx *tx) error { return fn(tx) })
}

// batch runs fn in one transaction.
func (c *core) batch(ctx context.Context, fn func(*tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	b, err := c.begin(ctx, "BEGIN; SELECT pg_current_xact_id()::text")
	if err != nil {
		err = c.cancelled(ctx, err)
		c.note(err)
		return err
	}
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWork)
	defer cancel()
	tx := &tx{view: view{db: c, ctx: work, q: b.conn}}
	err = c.explain(c.transact(tx, b, fn))
	c.note(err)
	if err != nil {
		return err
	}
	for _, f := range tx.after {
		f(work)
	}
	return nil
}

func (c *core) transact(tx *tx, b begun, fn func(*tx) error) (err error) {
	done := false
	defer func() {
		if !done {
			b.rollback(tx.ctx)
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if c.fault != nil {
		if err := c.fault(); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
	}
	tag, err := b.conn.Exec(tx.ctx, "COMMIT", pgx.QueryExecModeSimpleProtocol)
	done = true
	b.end()
	switch {
	case err == nil && tag.String() == "ROLLBACK":
		return errors.New("commit: a statement of the transaction had failed")
	case err != nil && away(err):
		return c.outcome(tx.ctx, b.id, err)
	case err != nil:
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (tx *tx) exec(query string, args ...any) (int64, error) {
	tag, err := tx.q.Exec(tx.ctx, query, args...)
	return tag.RowsAffected(), err
}

// change runs a statement that must affect a row; otherwise the thing does not exist.
func (tx *tx) change(query string, args ...any) error {
	n, err := tx.exec(query, args...)
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// add runs a statement that inserts a row unless there is one already.
func (tx *tx) add(query string, args ...any) error {
	n, err := tx.exec(query, args...)
	if err == nil && n == 0 {
		return store.ErrExists
	}
	return err
}

// own refuses a write to a session whose lease this server believes to hold, when it
// was given to another. It keeps the lease where it is until the transaction ends.
func (tx *tx) own(session lathe.SessionID) error {
	fence, held := tx.db.heart.fence(session)
	if !held || tx.mine[session] {
		return nil
	}
	var one int
	err := tx.row(`SELECT 1 FROM lease WHERE fence = $1 AND session = (SELECT n FROM session WHERE id = $2) FOR SHARE`, fence, session).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return tx.lost(session)
	}
	if tx.mine == nil {
		tx.mine = map[lathe.SessionID]bool{}
	}
	tx.mine[session] = err == nil
	return err
}

// lost is the error for a session whose lease is gone: another has it, or there is no
// session any more.
func (tx *tx) lost(session lathe.SessionID) error {
	var there bool
	err := tx.row(`SELECT EXISTS (SELECT 1 FROM session WHERE id = $1)`, session).Scan(&there)
	if err == nil && there {
		err = store.ErrLost
	} else if err == nil {
		err = store.ErrNotFound
	}
	return fmt.Errorf("session %s: %w", session, err)
}
