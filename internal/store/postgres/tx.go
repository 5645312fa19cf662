package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

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
}

// view reads one consistent state of the database.
type view struct {
	db   *core
	ctx  context.Context
	q    querier
	once bool // it consists of one statement: what needs another is refused with errMore
}

// errMore means that one statement is not enough.
var errMore = errors.New("it takes a second look")

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
	return c.reading(ctx, fn, false)
}

// reread is read for an fn that may run several times: a patient call whose connection is lost on
// the way makes it again.
func (c *core) reread(ctx context.Context, fn func(*view) error) error {
	return c.reading(ctx, fn, true)
}

func (c *core) reading(ctx context.Context, fn func(*view) error, again bool) error {
	for since := time.Now(); ; {
		begun, err := c.tryRead(ctx, fn)
		if begun && !again || !c.waits(ctx, since, err) {
			return err
		}
	}
}

func (c *core) tryRead(ctx context.Context, fn func(*view) error) (begun bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	p, err := c.open(ctx, false)
	if err != nil {
		return false, c.cancelled(ctx, err)
	}
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWork)
	defer cancel()
	defer p.end(work)
	err = c.explain(fn(&view{db: c, ctx: work, q: p}))
	return p.begun, err
}

// glance is read for what is mostly one statement, which needs no transaction. fn may be
// called several times.
func (c *core) glance(ctx context.Context, fn func(*view) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := c.retry(ctx, func(ctx context.Context) error {
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWork)
		defer cancel()
		return fn(&view{db: c, ctx: work, q: c.pool, once: true})
	})
	if errors.Is(err, errMore) {
		return c.read(ctx, fn)
	}
	if err != nil {
		return c.cancelled(ctx, err)
	}
	return nil
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
	pipe    *pipe
	sure    bool                        // it has a mark, if it notes nothing
	ended   bool                        // COMMIT was sent: only the database knows what became of it
	faulted bool                        // by [Options.Fault], not by its connection
	bold    bool                        // what this server remembers of sessions may be used
	mine    map[lathe.SessionID]*memory // sessions whose leases it asked for
	noted   *noted                      // what goes to the journal; may be nil
	after   []func(context.Context)     // run once it is committed
}

// writer is a [store.Writer].
type writer struct{ *core }

// Batch implements [store.Writer].
func (w writer) Batch(ctx context.Context, fn func(store.Tx) error) error {
	var last *tx
	run := func(bold bool) error {
		return w.batch(ctx, func(tx *tx) error {
			last, tx.bold = tx, bold
			return fn(tx)
		})
	}
	err := run(true)
	if err != nil && last != nil && last.misled(err) {
		ctx = context.WithoutCancel(ctx) // it has begun
		err = run(false)
	}
	return err
}

// misled reports whether a transaction may have failed because of what it remembered. Its error
// may be of fn, which was told something that was not true.
func (tx *tx) misled(err error) bool {
	if errors.Is(err, store.ErrUndone) || errors.Is(err, store.ErrAway) {
		return false
	}
	for _, m := range tx.mine {
		if m.used {
			return true
		}
	}
	return false
}

// batch runs fn in one transaction, and knows for certain what became of it.
func (c *core) batch(ctx context.Context, fn func(*tx) error) error {
	return c.transact(ctx, fn, true)
}

// mostAgain is how often a transaction is made at most that was undone each time.
const mostAgain = 5

// again is batch for what is made again as long as nothing of it is stored; fn has to do the same
// each time.
func (c *core) again(ctx context.Context, fn func(*tx) error) error {
	err := c.batch(ctx, fn)
	for run := 1; run < mostAgain && errors.Is(err, store.ErrUndone); run++ {
		err = c.batch(context.WithoutCancel(ctx), fn) // it has begun
	}
	return err
}

// attempt is batch for what nobody relies on before it is looked at again: a database that
// crashes during its commit may let it pass for stored.
func (c *core) attempt(ctx context.Context, fn func(*tx) error) error {
	return c.transact(ctx, fn, false)
}

func (c *core) transact(ctx context.Context, fn func(*tx) error, sure bool) error {
	for since := time.Now(); ; {
		begun, err := c.tryTransact(ctx, fn, sure)
		if begun || !c.waits(ctx, since, err) {
			return err
		}
	}
}

func (c *core) tryTransact(ctx context.Context, fn func(*tx) error, sure bool) (begun bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	p, err := c.open(ctx, true)
	if err != nil {
		err = c.cancelled(ctx, err)
		c.note(err)
		return false, err
	}
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWork)
	defer cancel()
	tx := &tx{view: view{db: c, ctx: work, q: p}, pipe: p, sure: sure}
	err = c.explain(c.lost(work, tx.undone(tx.run(fn))))
	if !errors.Is(err, store.ErrUndone) { // it can be reached
		c.note(err)
	}
	if err != nil {
		for _, m := range tx.mine {
			m.forget()
		}
		return p.begun || tx.faulted, err
	}
	c.absence.answered()
	for _, m := range tx.mine {
		m.keep()
	}
	for _, f := range tx.after {
		f(work)
	}
	return true, nil
}

// undone says of an error after which nothing is stored that the transaction may be run again:
// its connection was lost before COMMIT was sent, or it had to give way to another transaction.
func (tx *tx) undone(err error) error {
	if code := state(err); tx.pipe.begun && !tx.ended && away(err) && tx.ctx.Err() == nil || code == deadlock || code == conflict {
		return errors.Join(store.ErrUndone, err)
	}
	return err
}

// run runs fn and commits.
func (tx *tx) run(fn func(*tx) error) error {
	defer tx.pipe.end(tx.ctx)
	if err := fn(tx); err != nil {
		return err
	}
	if tx.db.fault != nil {
		if err := tx.db.fault(); err != nil {
			tx.faulted = true
			return fmt.Errorf("commit: %w", err)
		}
	}
	return tx.commit()
}

// commit sends what waits, what is noted and COMMIT as one message, so that nobody waits
// for this server while the journal is locked. The number of the transaction has to be
// known before: it says what became of it if the answer is lost.
func (tx *tx) commit() error {
	p := tx.pipe
	if m := tx.alone(); m != nil {
		return tx.commitWhole(m)
	}
	if !p.begun {
		if len(p.waiting) == 0 && tx.noted == nil {
			return nil
		}
		if err := p.flush(tx.ctx); err != nil {
			return err
		}
	}
	if tx.noted == nil && tx.sure {
		tx.noted = newMark(tx.db)
	}
	if tx.noted != nil {
		tx.noted.queue(p)
	}
	var tag pgconn.CommandTag
	tx.ended = true
	br, err := p.send(tx.ctx, "COMMIT", nil)
	if err == nil {
		tag, err = br.Exec()
		if shut := br.Close(); err == nil {
			err = shut
		}
	}
	switch {
	case err == nil && tag.String() == "ROLLBACK":
		return errors.New("commit: a statement of the transaction had failed")
	case err != nil && away(err):
		return tx.outcome(err)
	case err != nil:
		return fmt.Errorf("commit: %w", err)
	}
	if tx.noted != nil {
		tx.after = append(tx.after, tx.noted.settle)
	}
	return nil
}

// outcome asks what became of the transaction when its answer was lost.
func (tx *tx) outcome(lost error) error {
	ctx, cancel := tx.db.settling(tx.ctx)
	defer cancel()
	tx.pipe.end(ctx) // there may be no second connection
	err := tx.db.outcome(ctx, tx.pipe.id)
	if err == nil && tx.noted != nil {
		err = tx.noted.confirm(ctx, tx.pipe.id)
	}
	if err != nil {
		return fmt.Errorf("commit: %w", errors.Join(lost, err))
	}
	if tx.noted != nil {
		tx.after = append(tx.after, tx.noted.recall)
	}
	return nil
}

// later has a statement executed before the transaction ends.
func (tx *tx) later(doing, query string, args ...any) {
	tx.pipe.later(statement{query: query, args: args, doing: doing})
}

// must is later for a statement that fails with none if it changes nothing.
func (tx *tx) must(doing string, none error, change string, args ...any) {
	tx.pipe.later(statement{query: oneRow(change), args: args, doing: doing, none: none})
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

// lostLease means that the lease of a session is not what this server believes.
type lostLease struct {
	session lathe.SessionID
	fence   int64
}

func (l lostLease) Error() string { return fmt.Sprintf("the lease of session %s is gone", l.session) }

// own refuses a write to a session whose lease this server believes to hold, when it
// was given to another. It keeps the lease where it is until the transaction ends.
func (tx *tx) own(session lathe.SessionID) error {
	l := tx.db.heart.lease(session)
	if l == nil || tx.mine[session] != nil {
		return nil
	}
	m := newMemory(l, tx.bold)
	tx.pipe.later(statement{
		query: `SELECT 1 / count(*) FROM (SELECT 1 FROM lease WHERE fence = $1 AND session = (SELECT n FROM session WHERE id = $2) FOR SHARE) held`,
		args:  []any{m.fence, session}, none: lostLease{session, m.fence},
	})
	if tx.mine == nil {
		tx.mine = map[lathe.SessionID]*memory{}
	}
	tx.mine[session] = m
	return nil
}

// lost says what it means that a lease is gone: another has it, or there is no session any
// more. The transaction must have ended.
func (c *core) lost(ctx context.Context, err error) error {
	gone, ok := errors.AsType[lostLease](err)
	if !ok {
		return err
	}
	if l := c.heart.lease(gone.session); l != nil && l.number() != gone.fence {
		return errors.Join(store.ErrUndone, err) // this server gave it another number meanwhile
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWork)
	defer cancel()
	var there bool
	err = c.glance(ctx, func(v *view) error {
		return v.row(`SELECT EXISTS (SELECT 1 FROM session WHERE id = $1)`, gone.session).Scan(&there)
	})
	if err == nil && there {
		err = store.ErrLost
	} else if err == nil {
		err = store.ErrNotFound
	}
	return fmt.Errorf("session %s: %w", gone.session, err)
}
