package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// copiedKey is the session value that says how many of its first messages are
// copies.
const copiedKey = "copied"

// own is the condition that a message m of a session s is not a copy.
const own = ` AND m.seq > coalesce((SELECT CAST(v.data AS INTEGER) FROM session_value v WHERE v.session = s.n AND v.key = '` + copiedKey + `'), 0)`

// SetCopied says that the messages of a session up to a sequence number are
// copies, which statistics count where they were made.
func (tx *tx) SetCopied(session lathe.SessionID, seq int64) error {
	return tx.SetValue(session, copiedKey, strconv.AppendInt(nil, seq, 10))
}

// stats is a [store.Stats].
type stats struct{ *core }

// Answers calls fn with each assistant message created since then, oldest first,
// and then with those that were removed. Copies are left out.
func (s stats) Answers(ctx context.Context, since time.Time, fn func(store.Answer) error) error {
	err := s.read(ctx, func(v *view) error {
		// A removed answer that was imported again counts once.
		rows, err := v.query(`SELECT s.id, s.project, s.directory, 0, m.n, m.id, m.seq, m.role, m.created, m.data
				FROM message m JOIN session s ON s.n = m.session WHERE m.role = 'assistant' AND m.created >= ?1`+own+`
			UNION ALL SELECT p.session, p.project, p.directory, 1, 0, p.message, 0, 'assistant', p.created, p.data
				FROM spent p WHERE p.created >= ?1 AND NOT EXISTS
				(SELECT 1 FROM message m JOIN session s ON s.n = m.session WHERE m.id = p.message AND s.id = p.session)
			ORDER BY 4, 5, 9`, codec.Millis(since))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var a store.Answer
			m, err := v.scanMessage(prefixed{rows, []any{&a.Session, &a.Project, &a.Directory, &a.Removed}}, "")
			if err != nil {
				return err
			}
			info, ok := m.Info.(*lathe.Assistant)
			if !ok {
				continue
			}
			a.Created, a.Assistant = m.Created, info
			if err := fn(a); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil {
		return fmt.Errorf("read answers: %w", err)
	}
	return nil
}

// prefixed scans columns of its own before another's.
type prefixed struct {
	scanner
	own []any
}

func (p prefixed) Scan(dest ...any) error { return p.scanner.Scan(append(p.own, dest...)...) }

// ToolUses calls fn with each tool call made since then. Copies are left out, and
// bodies that are kept in files.
func (s stats) ToolUses(ctx context.Context, since time.Time, fn func(store.ToolUse) error) error {
	bare := codec.Decoder{Bare: true}
	err := s.read(ctx, func(v *view) error {
		rows, err := v.query(`SELECT s.id, s.project, p.data FROM part p JOIN message m ON m.n = p.message
			JOIN session s ON s.n = m.session WHERE p.kind = ? AND m.created >= ?`+own+` ORDER BY p.n`, codec.KindTool, codec.Millis(since))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var u store.ToolUse
			var data []byte
			if err := rows.Scan(&u.Session, &u.Project, &data); err != nil {
				return err
			}
			if data, err = codec.Unpack(data); err != nil {
				continue // "lathe doctor" reports it
			}
			body, err := bare.Part(codec.KindTool, data)
			if err != nil {
				continue
			}
			var ok bool
			if u.ToolCall, ok = body.(*lathe.ToolCall); !ok {
				continue
			}
			if err := fn(u); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil {
		return fmt.Errorf("read tool calls: %w", err)
	}
	return nil
}

// Counts says how much a database holds.
type Counts struct {
	Schema                                           int
	Projects, Sessions, Messages, Parts, Unclosed    int
	DatabaseBytes, BlobBytes, OpenBytes, BackupBytes int64
}

// Counts counts what the database holds, and its files.
func (s *DB) Counts(ctx context.Context) (c Counts, err error) {
	err = s.read(ctx, func(v *view) error {
		return v.row(`SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM project), (SELECT count(*) FROM session),
			(SELECT count(*) FROM message), (SELECT count(*) FROM part), (SELECT count(*) FROM message WHERE open = 1)`).
			Scan(&c.Schema, &c.Projects, &c.Sessions, &c.Messages, &c.Parts, &c.Unclosed)
	})
	if err != nil {
		return c, fmt.Errorf("count rows: %w", err)
	}
	for _, name := range []string{"lathe.db", "lathe.db-wal"} {
		c.DatabaseBytes += size(filepath.Join(s.dir, name))
	}
	c.BlobBytes, c.OpenBytes, c.BackupBytes = size(s.blobs.Dir), size(s.texts.Dir), size(filepath.Join(s.dir, "backup"))
	return c, nil
}

func size(path string) (total int64) {
	_ = filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

// Path returns the database file.
func (s *DB) Path() string { return s.path() }

// BackupTo copies the database, as of now, to a file that must not exist.
func (s *DB) BackupTo(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return lathe.Errorf(lathe.CodeInvalid, "name another file", "back up the database: %s exists", path)
	}
	db, err := s.readOnly("")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", path)
	if err := errors.Join(err, db.Close()); err != nil {
		return s.explain(fmt.Errorf("back up the database to %s: %w", path, err))
	}
	return os.Chmod(path, fileMode)
}

// Vacuum gives unused pages back to the file system.
func (s *DB) Vacuum(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	if s.closed {
		return errClosed
	}
	_, err := s.conn.ExecContext(ctx, "VACUUM")
	if err == nil {
		_, err = s.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err != nil {
		return s.explain(fmt.Errorf("vacuum the database: %w", err))
	}
	return nil
}

// readOnly opens the database once more, such that it cannot be written.
func (s *DB) readOnly(more string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(s.readPath())}
	db, err := sql.Open("sqlite", u.String()+"?"+cmp.Or(s.readMode, "mode=ro")+"&_pragma=busy_timeout(5000)"+more)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// Query runs a query on a connection that cannot write, and calls row with the
// names of the columns and then with each row.
func (s *DB) Query(ctx context.Context, query string, row func([]any) error) (err error) {
	db, err := s.readOnly("&_pragma=query_only(1)&_pragma=trusted_schema(0)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	values, dest := make([]any, len(names)), make([]any, len(names))
	for i, n := range names {
		values[i], dest[i] = n, &values[i]
	}
	if err := row(values); err != nil {
		return err
	}
	for rows.Next() {
		err := rows.Scan(dest...)
		if err == nil {
			err = row(values)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}
