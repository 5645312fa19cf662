package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"lathe"
)

// ReadOnly reports whether the database can only be read: its directory or file
// system cannot be written. Every write fails then and says so.
func (s *DB) ReadOnly() bool { return s.onlyReads }

// unwritable reports whether an error says that a place exists but cannot be
// written.
func unwritable(err error) bool {
	if errors.Is(err, syscall.EROFS) || errors.Is(err, os.ErrPermission) {
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	code := 0
	if ok {
		code = e.Code() & 0xff
	}
	return code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN || code == sqlite3.SQLITE_PERM
}

// openReadOnly opens an existing database of the current schema read-only. why
// is the reason that it cannot be written; it is returned if the database
// cannot be read either.
func (s opener) openReadOnly(ctx context.Context, why error) error {
	if fi, err := os.Stat(s.path()); err != nil || fi.Size() == 0 {
		return why
	}
	modes := []string{"mode=ro"}
	logged := true
	if fi, err := os.Stat(s.path() + "-wal"); err != nil || fi.Size() == 0 {
		// Without a log SQLite would want to make one; nobody can, so nobody
		// changes the file while it is read.
		logged, modes = false, append(modes, "immutable=1")
	}
	s.onlyReads, s.journal = true, "none"
	for i := 0; i < len(modes); i++ {
		v, err := s.connectReadOnly(ctx, modes[i])
		if err != nil && logged && s.aside == "" {
			// A log left behind by a process cannot be read where SQLite cannot
			// make an index for it; with a copy it can.
			if err := s.copyAside(); err != nil {
				return errors.Join(why, err)
			}
			modes = append(modes, "mode=ro")
		}
		switch {
		case err == nil && v == schema:
			return nil
		case err == nil && v > schema:
			return errors.Join(s.tooNew(v), s.close())
		case err == nil:
			return errors.Join(lathe.Errorf(lathe.CodeInvalid, "let it be writable once, so that it can be brought up to date",
				"the database %s has schema %d and cannot be written; this lathe reads schema %d", s.path(), v, schema), s.close())
		}
	}
	return errors.Join(why, s.dropAside())
}

// copyAside copies the database and its log to a temporary directory, which is
// removed when the store is closed.
func (s opener) copyAside() error {
	dir, err := os.MkdirTemp("", "lathe-read-*")
	if err != nil {
		return err
	}
	s.aside = dir
	for _, end := range []string{"", "-wal"} {
		if err := copyFile(s.path()+end, s.readPath()+end); err != nil {
			return errors.Join(fmt.Errorf("copy %s to read it with its log: %w", s.path(), err), s.dropAside())
		}
	}
	return nil
}

func (s *core) dropAside() error {
	if s.aside == "" {
		return nil
	}
	dir := s.aside
	s.aside = ""
	return os.RemoveAll(dir)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// readPath is the file that is read: the database, or a copy of it.
func (s *core) readPath() string {
	if s.aside != "" {
		return filepath.Join(s.aside, "lathe.db")
	}
	return s.path()
}

func (s opener) connectReadOnly(ctx context.Context, mode string) (version int, err error) {
	path := filepath.ToSlash(s.readPath())
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path}
	s.readMode = mode
	dsn := fmt.Sprintf("%s?%s&_busy_timeout=%d&_pragma=query_only(1)", u.String(), mode, busyLimit.Milliseconds())
	if s.writer, err = sql.Open("sqlite", dsn); err != nil {
		return 0, err
	}
	s.writer.SetMaxOpenConns(1)
	if s.conn, err = s.writer.Conn(ctx); err != nil {
		return 0, errors.Join(err, s.writer.Close())
	}
	if err = s.conn.QueryRowContext(ctx, "SELECT user_version + 0 * (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version").Scan(&version); err == nil {
		s.reader, err = sql.Open("sqlite", dsn)
	}
	if err != nil {
		return 0, errors.Join(err, s.conn.Close(), s.writer.Close())
	}
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	s.reader.SetConnMaxIdleTime(0)
	return version, nil
}
