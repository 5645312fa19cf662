package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"lathe"
	"lathe/internal/store"
)

var errClosed = errors.New("the database is closed")

// explain turns an error of the database into one that says what to do.
func (s *core) explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return s.full(err)
	}
	if errors.Is(err, syscall.EROFS) {
		return s.cannotWrite(err)
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return s.full(err)
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return s.corrupt(err)
	case sqlite3.SQLITE_BUSY:
		return wrapped(lathe.CodeBusy, "close other lathe processes that use "+s.dir+", or try again",
			err, "the database stayed locked by another process")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return s.cannotWrite(err)
	}
	return err
}

func (s *core) cannotWrite(err error) error {
	return wrapped(lathe.CodeReadOnly, "check who owns "+s.dir+" and whether it can be written, or set LATHE_HOME",
		errors.Join(store.ErrReadOnly, err), "the database %s cannot be written", s.path())
}

func (s *core) full(err error) error {
	return wrapped(lathe.CodeFull, "free some space, then try again; what was stored before is safe",
		errors.Join(store.ErrFull, err), "no space left in %s", s.dir)
}

// corrupt says what can be done about a damaged database.
func (s *core) corrupt(err error) error {
	hint := repairHint
	if backups, _ := filepath.Glob(filepath.Join(s.dir, "backup", "*.db")); len(backups) > 0 {
		hint += fmt.Sprintf("; an older backup is %q", newest(backups))
	}
	return wrapped(lathe.CodeInternal, hint, err, "the database %s is damaged", s.path())
}

func newest(paths []string) string {
	best, at := paths[0], int64(0)
	for _, p := range paths {
		if fi, err := os.Stat(p); err == nil && fi.ModTime().UnixNano() > at {
			best, at = p, fi.ModTime().UnixNano()
		}
	}
	return best
}

func wrapped(code lathe.Code, hint string, cause error, format string, args ...any) *lathe.Error {
	e := lathe.Errorf(code, hint, format, args...)
	e.Cause = cause
	return e
}

// isUnique reports whether the error is a violated UNIQUE or PRIMARY KEY.
func isUnique(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// damagedSession says why a readable session cannot be continued: the rules
// that bind it are not known.
func damagedSession(id lathe.SessionID, why error) error {
	return wrapped(lathe.CodeInternal, "its messages can be read; to go on with it, without its own rules and its revert: lathe db check --repair",
		why, "the settings of session %s are damaged", id)
}
