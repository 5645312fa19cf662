package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	beginRead  = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
	beginWrite = `BEGIN`
)

// statement is one that waits to be sent.
type statement struct {
	query string
	args  []any
	doing string               // for its error
	none  error                // what it means if it divided by zero, which is how a statement says that it changed nothing
	take  func(pgx.Rows) error // what it returned; nil: nothing that is wanted
}

// oneRow makes a statement fail that changes no row, so that what follows it in the
// same message is not executed.
func oneRow(change string) string {
	return `WITH done AS (` + change + ` RETURNING 1) SELECT 1 / count(*) FROM done`
}

func (s *statement) settle(br pgx.BatchResults) error {
	rows, err := br.Query()
	if err == nil && s.take != nil {
		err = s.take(rows)
	}
	rows.Close()
	if err == nil {
		err = rows.Err()
	}
	if s.none != nil && state(err) == divisionByZero {
		err = s.none
	}
	if err != nil && s.doing != "" {
		err = fmt.Errorf("%s: %w", s.doing, err)
	}
	return err
}

// pipe is a connection for one transaction. What a transaction costs is mostly how often
// somebody waits for the other side, so statements whose answers are not needed at once
// wait, BEGIN as well, and are sent together with the next whose answer is. It is used by
// one goroutine.
type pipe struct {
	db      *core
	writes  bool
	conn    *pgxpool.Conn
	begun   bool
	id      string // of the transaction; "" for one that only reads, and before it began
	waiting []statement
}

// open takes a connection. The pipe has to be ended.
func (c *core) open(ctx context.Context, writes bool) (*pipe, error) {
	p := &pipe{db: c, writes: writes}
	return p, c.retry(ctx, p.acquire)
}

func (p *pipe) acquire(ctx context.Context) (err error) {
	p.conn, err = p.db.pool.Acquire(ctx)
	return err
}

// later has a statement sent with the next one whose answer is needed.
func (p *pipe) later(s statement) { p.waiting = append(p.waiting, s) }

// send sends what waits, and then another statement, whose answer is what has not been
// read of the results.
func (p *pipe) send(ctx context.Context, query string, args []any) (pgx.BatchResults, error) {
	var br pgx.BatchResults
	var err error
	if p.begun {
		br = p.conn.SendBatch(ctx, p.batch(query, args))
	} else if br, err = p.begin(ctx, query, args); err != nil {
		return nil, err
	}
	waiting := p.waiting
	p.waiting = nil
	for i := range waiting {
		if err := waiting[i].settle(br); err != nil {
			_ = br.Close() // it repeats the error
			return nil, err
		}
	}
	return br, nil
}

func (p *pipe) batch(query string, args []any) *pgx.Batch {
	b := &pgx.Batch{}
	if !p.begun && p.writes {
		b.Queue(beginWrite)
		b.Queue(p.db.number)
	} else if !p.begun {
		b.Queue(beginRead)
	}
	for i := range p.waiting {
		b.Queue(p.waiting[i].query, p.waiting[i].args...)
	}
	if query != "" {
		b.Queue(query, args...)
	}
	return b
}

// begin begins the transaction with its first statements. A connection that turns out to
// be dead is replaced: nothing was answered yet.
func (p *pipe) begin(ctx context.Context, query string, args []any) (br pgx.BatchResults, err error) {
	err = p.db.retry(ctx, func(ctx context.Context) error {
		if p.conn == nil {
			if err := p.acquire(ctx); err != nil {
				return err
			}
		}
		br = p.conn.SendBatch(ctx, p.batch(query, args))
		_, err := br.Exec()
		if err == nil && p.writes {
			err = br.QueryRow().Scan(&p.id)
		}
		if err != nil {
			_ = br.Close() // it repeats the error
			drop(p.conn)
			p.conn = nil
		}
		return err
	})
	p.begun = err == nil
	return br, err
}

// flush sends what waits and reads what it answers; a transaction has begun then.
func (p *pipe) flush(ctx context.Context) error {
	if p.begun && len(p.waiting) == 0 {
		return nil
	}
	br, err := p.send(ctx, "", nil)
	if err != nil {
		return err
	}
	return br.Close()
}

// end undoes what was not committed, and gives the connection back. One whose state is not
// known is closed.
func (p *pipe) end(ctx context.Context) {
	if p.conn == nil {
		return
	}
	at := p.conn.Conn().PgConn()
	if p.begun && at.TxStatus() != 'I' {
		_, _ = at.Exec(ctx, "ROLLBACK").ReadAll() // else it is closed
	}
	if at.TxStatus() != 'I' {
		drop(p.conn)
	} else {
		p.conn.Release()
	}
	p.conn = nil
}

// Exec is [querier.Exec].
func (p *pipe) Exec(ctx context.Context, query string, args ...any) (tag pgconn.CommandTag, err error) {
	br, err := p.send(ctx, query, args)
	if err != nil {
		return tag, err
	}
	tag, err = br.Exec()
	if shut := br.Close(); err == nil {
		err = shut
	}
	return tag, err
}

// Query is [querier.Query].
func (p *pipe) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	br, err := p.send(ctx, query, args)
	if err != nil {
		return nil, err
	}
	rows, err := br.Query()
	if err != nil {
		_ = br.Close() // it repeats the error
		return nil, err
	}
	return &pipeRows{rows, br}, nil
}

// QueryRow is [querier.QueryRow]; the row has to be scanned.
func (p *pipe) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	return pipeRow{p, ctx, query, args}
}

// pipeRows are the rows of the last statement that was sent.
type pipeRows struct {
	pgx.Rows
	br pgx.BatchResults
}

func (r *pipeRows) Close() {
	r.Rows.Close()
	_ = r.br.Close() // whatever breaks here breaks the next statement, too
}

type pipeRow struct {
	p     *pipe
	ctx   context.Context
	query string
	args  []any
}

func (r pipeRow) Scan(dest ...any) error {
	br, err := r.p.send(r.ctx, r.query, r.args)
	if err != nil {
		return err
	}
	err = br.QueryRow().Scan(dest...)
	if shut := br.Close(); err == nil {
		err = shut
	}
	return err
}
