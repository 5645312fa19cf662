package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"lathe/internal/store/local"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"lathe"
)

// Repaired says what [Repair] did.
type Repaired struct {
	Copy  string         // directory with the database and the files as they were
	Kept  map[string]int // rows by table
	Lost  map[string]int // of these, those that could not be read at all
	Noted int            // parts, messages and settings that were replaced by a note
	Made  int            // sessions and messages made to replace lost ones
	// Backup is the pre-migration copy that replaced a database from which nothing
	// could be read; usually empty.
	Backup string
}

// Repair makes a new database from everything that can be read of a damaged one,
// and replaces it. The old one is kept in a directory of its own. The error is a
// busy one while any lathe uses the database.
func Repair(ctx context.Context, o Options) (out Repaired, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := opener{&core{dir: o.Dir, log: o.Log, now: o.Now, journal: "delete"}}
	if err := s.prepare(networkFS); err != nil {
		return out, err
	}
	lock := flock.New(filepath.Join(s.dir, "migrate.lock"), flock.SetPermissions(fileMode))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return out, fmt.Errorf("lock database %s for repair: %w", s.path(), err)
	}
	defer lock.Close()
	r := &repair{old: s.core, out: &out, bad: map[string]error{}, names: map[string][]string{}}
	err = r.run(ctx, o)
	return out, s.explain(err)
}

// repair is a repair in progress.
type repair struct {
	old   *core
	db    *sql.DB
	one   *sql.Conn // with the old database locked
	new   *DB
	names map[string][]string // of the columns of its tables
	out   *Repaired
	raw   *pages           // for rows that SQLite cannot reach
	gaps  int              // rows of a table that SQLite does not reach
	bad   map[string]error // files whose content is not what was stored
}

func (r *repair) run(ctx context.Context, o Options) error {
	if err := r.seize(ctx); err != nil {
		r.letGo()
		if !unreadable(err) {
			return err
		}
	}
	defer r.letGo()
	if err := r.keepCopy(); err != nil {
		return err
	}
	raw, err := openPages(filepath.Join(r.out.Copy, "lathe.db"))
	if err != nil {
		return err
	}
	defer raw.close()
	r.raw = raw
	dir, err := os.MkdirTemp(r.old.dir, "repair-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fresh := Options{Dir: dir, Log: o.Log, Now: o.Now}
	if r.new, err = openOn(ctx, fresh, func(string) string { return "none" }); err != nil {
		return err
	}
	err = r.salvage(ctx)
	path := r.new.path()
	if err = errors.Join(err, r.new.Close()); err != nil {
		return err
	}
	if r.one == nil {
		return r.exchange(path)
	}
	if err := r.replace(ctx, path); err != nil {
		return err
	}
	return r.moveBlobs()
}

// unreadable reports whether SQLite finds no database at all.
func unreadable(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_CORRUPT
}

// seize opens the old database so that nobody else has it open. Only the last
// connection can leave write-ahead mode.
func (r *repair) seize(ctx context.Context) (err error) {
	dsn := r.old.dsn("exclusive", "")
	if r.db, err = sql.Open("sqlite", dsn); err != nil {
		return err
	}
	r.db.SetMaxOpenConns(1)
	if r.one, err = r.db.Conn(ctx); err != nil {
		return err
	}
	var mode string
	if err := r.one.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode != "delete" {
		return lathe.Errorf(lathe.CodeBusy, "stop every lathe that uses "+r.old.dir+", then try again", "the database %s is in use", r.old.path())
	}
	for _, q := range []string{"PRAGMA locking_mode=EXCLUSIVE", "BEGIN EXCLUSIVE", "SELECT count(*) FROM sqlite_schema", "COMMIT"} {
		if _, err := r.one.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	v := 0
	if err := r.one.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v); err != nil {
		return err
	}
	if v > schema {
		return r.old.tooNew(v)
	}
	return nil
}

func (r *repair) letGo() {
	if r.one != nil {
		_ = r.one.Close()
	}
	if r.db != nil {
		_ = r.db.Close()
	}
	r.one, r.db = nil, nil
}

// keepCopy copies the database as it is.
func (r *repair) keepCopy() error {
	dir, err := r.old.damagedDir()
	if err != nil {
		return err
	}
	r.out.Copy = dir
	for _, end := range []string{"", "-wal"} {
		from := r.old.path() + end
		if _, err := os.Stat(from); err != nil {
			continue
		}
		if err := copyFile(from, filepath.Join(dir, "lathe.db"+end)); err != nil {
			return fmt.Errorf("keep a copy of the damaged database: %w", err)
		}
	}
	return nil
}

// moveBlobs moves damaged files, which no row refers to any more, to the copy
// of the database.
func (r *repair) moveBlobs() error {
	for hash, err := range r.bad {
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		to := local.Blobs{Dir: filepath.Join(r.out.Copy, "blob")}.Path(hash)
		if err := os.MkdirAll(filepath.Dir(to), dirMode); err != nil {
			return err
		}
		if err := os.Rename(r.old.blobs.Path(hash), to); err != nil {
			return err
		}
	}
	return nil
}

// replace replaces the old database with the new one, in one transaction on the
// connection that holds it. Its pages replace all the old ones.
func (r *repair) replace(ctx context.Context, path string) error {
	return r.one.Raw(func(c any) error {
		into, ok := c.(interface {
			NewRestore(string) (*sqlite.Backup, error)
		})
		if !ok {
			return errors.New("the driver cannot restore a database")
		}
		b, err := into.NewRestore(filepath.ToSlash(path))
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if ctx.Err() != nil {
				return errors.Join(context.Cause(ctx), b.Finish())
			}
			more, err = b.Step(10_000)
		}
		return errors.Join(err, b.Finish())
	})
}

// exchange replaces a file that is no longer a database, either with the one
// rebuilt from its pages or with the newest copy from before a migration.
func (r *repair) exchange(path string) error {
	if r.out.Kept["session"] == 0 {
		backups, _ := filepath.Glob(filepath.Join(r.old.dir, "backup", "*.db"))
		if len(backups) == 0 {
			_ = os.RemoveAll(r.out.Copy)
			return lathe.Errorf(lathe.CodeInternal, "bring lathe.db back from a copy of the data directory, or move it away to start with an empty one",
				"nothing of the database %s can be read, and there is no backup of it", r.old.path())
		}
		r.out.Backup, path = newest(backups), path+unfinished
		if err := copyFile(r.out.Backup, path); err != nil {
			return err
		}
	}
	for _, end := range []string{"-wal", "-shm", "-journal"} { // they belong to the damaged one
		if err := os.Remove(r.old.path() + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return errors.Join(finishFile(path, r.old.path()), r.moveBlobs())
}
