// Package sqlite keeps sessions: their messages, parts, todo lists and diffs,
// and the related projects, approvals and leases. No SQLite type leaves it.
//
// Everything is under one data directory:
//
//	lathe.db      the database; columns for what is queried, JSON for the rest
//	blob/ab/…     bodies over 64 KiB, gzip, named by the SHA-256 of their content
//	open/N-R      text of a part that is still open, appended to as it streams;
//	              what a tool shows that still runs
//	backup/       copies made before each migration
//
// A write is one transaction and is committed when the method returns. Blobs are
// written, and synced, before the row that names them; a crash in between leaves
// a file that a sweep removes. Streaming text is appended to a file of its own,
// because a database writes whole pages for each checkpoint; the row takes the
// text over when the part closes.
//
// Order is by sequence numbers that the store gives out, never by identifiers or
// clocks. Times are kept to the millisecond. Text that is not UTF-8 comes back
// with replacement characters, and numbers in metadata as float64.
//
// open.go opens, upgrades and backs up; store.go holds the connections and the one
// transaction that writes; session.go, message.go, part.go, project.go and value.go store
// what their names say, load.go and overlay.go read messages back, text.go keeps the text
// of open parts, and search.go and stats.go answer questions about everything. Damage is
// found by check.go and mended by repair.go, with salvage.go, rawpages.go and intake.go.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"lathe/internal/store"
	"lathe/internal/store/codec"
	"lathe/internal/store/local"
)

// Options configure [Open].
type Options struct {
	Dir string           // data directory; made with mode 0700
	Log *slog.Logger     // nil: discarded
	Now func() time.Time // nil: time.Now
	// Fault is called before each write is committed; an error it returns fails
	// the write as the disk would. For tests; may be nil.
	Fault func() error
}

// DB is an open database: the parts of its [DB.Store], and what is specific to
// SQLite and its files. It is safe for concurrent use, also by several processes.
type DB struct{ *core }

// core is what the parts of a database share: its connections and its files. One
// writer at a time is at work.
type core struct {
	dir       string
	log       *slog.Logger
	now       func() time.Time
	self      func() local.Process // this one
	journal   string
	onlyReads bool
	restarted bool
	readMode  string // how SQLite opens it then
	aside     string // directory of a copy that is read instead

	writer *sql.DB
	conn   *sql.Conn     // the one connection of writer
	turn   chan struct{} // held by the writer of this process
	stmts  map[string]*sql.Stmt
	closed bool // guarded by turn

	fault   func() error
	trouble atomic.Pointer[error] // see Trouble

	reader *sql.DB // opened on the first query
	texts  texts
	blobs  local.Blobs
	packer codec.Packer
}

// Close waits for a write in progress and closes the database. It may be called
// twice.
func (s *DB) Close() error { return s.close() }

func (s *core) close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.closed {
		return nil
	}
	s.closed = true
	for _, st := range s.stmts {
		st.Close()
	}
	// The writer is closed last: the last connection folds the journal in.
	err := errors.Join(s.reader.Close(), s.conn.Close(), s.writer.Close(), s.dropAside())
	if err != nil {
		return fmt.Errorf("close database in %s: %w", s.dir, err)
	}
	return nil
}

// Dir returns the data directory.
func (s *DB) Dir() string { return s.dir }

// Journal returns "wal", or "truncate" on a network filesystem, where the shared
// memory of a write-ahead log does not work, or "none" for one that is only read.
func (s *DB) Journal() string { return s.journal }

// querier is what reads need; a transaction of either pool has it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// view reads one consistent state of the database.
type view struct {
	db  *core
	ctx context.Context
	q   querier
}

func (v *view) query(query string, args ...any) (*sql.Rows, error) {
	return v.q.QueryContext(v.ctx, query, args...)
}

func (v *view) row(query string, args ...any) *sql.Row {
	return v.q.QueryRowContext(v.ctx, query, args...)
}

// read runs fn on a snapshot. Cancellation is checked before, not during: a
// read is short, and an interruptible one costs a goroutine per statement.
func (s *core) read(ctx context.Context, fn func(*view) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx)
	tx, err := s.reader.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(err)
	}
	defer tx.Rollback()
	return s.explain(fn(&view{db: s, ctx: ctx, q: tx}))
}

// tx is a [store.Tx].
type tx struct {
	view
	after []func() // run once it is committed
}

// writer is a [store.Writer].
type writer struct{ *core }

// Batch implements [store.Writer].
func (s writer) Batch(ctx context.Context, fn func(store.Tx) error) error {
	return s.batch(ctx, func(tx *tx) error { return fn(tx) })
}

// batch runs fn in one transaction.
func (s *core) batch(ctx context.Context, fn func(*tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	if s.closed {
		return errClosed
	}
	tx := s.newTx(ctx)
	err := s.explain(s.transact(tx, fn))
	s.note(err)
	if err != nil {
		return err
	}
	for _, f := range tx.after {
		f()
	}
	return nil
}

func (s *core) newTx(ctx context.Context) *tx {
	return &tx{view: view{db: s, ctx: context.WithoutCancel(ctx), q: cached{s}}}
}

func (s *core) transact(tx *tx, fn func(*tx) error) (err error) {
	if _, err := tx.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	done := false
	defer func() {
		if !done {
			// A failed commit may have rolled back by itself.
			tx.exec("ROLLBACK")
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if s.fault != nil {
		if err := s.fault(); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
	}
	if _, err := tx.exec("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	done = true
	return nil
}

func (tx *tx) exec(query string, args ...any) (sql.Result, error) {
	st, err := tx.db.stmt(tx.ctx, query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(tx.ctx, args...)
}

// change runs a statement that must affect a row; otherwise the thing does not exist.
func (tx *tx) change(query string, args ...any) error {
	res, err := tx.exec(query, args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// stmt returns the prepared statement. The caller holds the writer's turn.
func (s *core) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if st := s.stmts[query]; st != nil {
		return st, nil
	}
	st, err := s.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = st
	return st, nil
}

// cached is the writer's connection as a querier, with prepared statements.
type cached struct{ s *core }

func (c cached) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := c.s.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

func (c cached) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	st, err := c.s.stmt(ctx, query)
	if err != nil {
		return c.s.conn.QueryRowContext(ctx, query, args...) // reports the same error
	}
	return st.QueryRowContext(ctx, args...)
}

// Store returns the database as a store. It is closed with the database.
func (s *DB) Store() *store.Store {
	c := s.core
	return &store.Store{
		SessionReader: sessions{c}, MessageReader: messages{c}, ProjectReader: projects{c}, Writer: writer{c}, Streams: streams{c},
		Leases: leases{c}, Health: health{c}, Searcher: searcher{c}, Stats: stats{c}, Upkeep: upkeep{c},
	}
}
