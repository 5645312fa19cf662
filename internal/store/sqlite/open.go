package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"lathe"
	"lathe/internal/store/local"
	"lathe/internal/store/migration"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schema is the version that the newest migration leads to.
const schema = 4

const (
	fileMode  = 0o600
	dirMode   = 0o700
	readers   = 4
	busyLimit = 5 * time.Second
)

// Open opens the database in the directory, making or migrating it as needed. A
// database of a newer lathe is refused and left alone. One that cannot be written
// is opened for reading, see [DB.ReadOnly].
func Open(ctx context.Context, o Options) (*DB, error) {
	return openOn(ctx, o, networkFS)
}

// openOn is Open with a function that says what is a network filesystem.
func openOn(ctx context.Context, o Options, network func(dir string) string) (*DB, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := opener{&core{
		dir: o.Dir, log: o.Log, now: o.Now, fault: o.Fault, journal: "wal", self: sync.OnceValue(local.Self),
		turn: make(chan struct{}, 1), stmts: map[string]*sql.Stmt{},
	}}
	if err := s.prepare(network); err != nil {
		if unwritable(err) {
			err = s.openReadOnly(ctx, err)
		}
		if err != nil {
			return nil, err
		}
		return &DB{s.core}, nil
	}
	if err := s.connect(ctx); err != nil {
		if unwritable(err) && s.openReadOnly(ctx, err) == nil {
			return &DB{s.core}, nil
		}
		return nil, s.explain(fmt.Errorf("open database %s: %w", s.path(), err))
	}
	if err := s.upgrade(ctx); err != nil {
		s.close()
		return nil, s.explain(err)
	}
	return &DB{s.core}, nil
}

// opener opens a database.
type opener struct{ *core }

func (s *core) path() string { return filepath.Join(s.dir, "lathe.db") }

// prepare makes the directory and the file so that they are private from the
// start: SQLite gives its journals the mode of the database.
func (s opener) prepare(network func(string) string) error {
	if s.dir == "" {
		return errors.New("open database: no data directory given")
	}
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	s.dir = dir
	s.blobs.Dir, s.texts.Dir = filepath.Join(dir, "blob"), filepath.Join(dir, "open")
	err = os.MkdirAll(dir, dirMode)
	if err == nil {
		err = s.saveLog()
	}
	if err == nil {
		err = private(s.path())
	}
	if err != nil {
		return s.explain(wrapped(lathe.CodeInternal, "make the directory writable, or set LATHE_HOME to another one",
			err, "the data directory %s cannot be used", dir))
	}
	if kind := network(dir); kind != "" {
		s.journal = "truncate"
		s.log.Warn("data directory is on a network filesystem; using a rollback journal", "kind", kind)
	}
	return nil
}

// private makes the file, or restricts the mode of an existing one.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || fi.Mode().Perm()&0o077 == 0 {
		return err
	}
	return f.Chmod(fileMode)
}

func (s *core) dsn(txlock, extra string) string {
	path := filepath.ToSlash(s.path())
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // file:///C:/…
	}
	u := url.URL{Scheme: "file", Path: path}
	return fmt.Sprintf("%s?_txlock=%s&_busy_timeout=%d&_pragma=journal_mode(%s)&_pragma=synchronous(NORMAL)"+
		"&_pragma=foreign_keys(1)%s", u.String(), txlock, busyLimit.Milliseconds(), s.journal, extra)
}

func (s opener) connect(ctx context.Context) (err error) {
	if s.writer, err = sql.Open("sqlite", s.dsn("immediate", "&_pragma=temp_store(MEMORY)&_pragma=journal_size_limit(4194304)")); err != nil {
		return err
	}
	s.writer.SetMaxOpenConns(1)
	if s.conn, err = s.first(ctx); err != nil {
		s.writer.Close()
		return err
	}
	if s.reader, err = sql.Open("sqlite", s.dsn("deferred", "&_pragma=query_only(1)")); err != nil {
		return errors.Join(err, s.conn.Close(), s.writer.Close())
	}
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	s.reader.SetConnMaxIdleTime(0)
	return nil
}

// first opens the connection that writes. Several processes may open a new database at the
// same moment: the switch to the log needs it alone, and SQLite then refuses at once what
// it was told to wait for, since both could wait for each other.
func (s opener) first(ctx context.Context) (*sql.Conn, error) {
	for end := time.Now().Add(busyLimit); ; {
		conn, err := s.writer.Conn(ctx)
		if e, ok := errors.AsType[*sqlite.Error](err); !ok || e.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(end) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s opener) version(ctx context.Context) (v int, err error) {
	err = s.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return v, nil
}

// upgrade brings the schema up to date. The version in the file's header makes
// the usual case one read; migrations set it in their own transaction.
func (s opener) upgrade(ctx context.Context) error {
	v, err := s.version(ctx)
	if err != nil || v == schema {
		return err
	}
	if v > schema {
		return s.tooNew(v)
	}
	lock := flock.New(filepath.Join(s.dir, "migrate.lock"), flock.SetPermissions(fileMode))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return fmt.Errorf("lock database %s for migration: %w", s.path(), err)
	}
	defer lock.Close()
	if v, err = s.version(ctx); err != nil || v == schema { // another process was first
		return err
	}
	if v > 0 {
		err = s.backup(ctx, v)
	} else {
		s.restarted = s.traces()
	}
	if err != nil {
		return err
	}
	return s.migrate(ctx, v)
}

// Restarted reports whether Open made a new database in place of an earlier one
// that is gone.
func (s *DB) Restarted() bool { return s.restarted }

// traces reports whether there are files that only a database can have referred to.
func (s opener) traces() bool {
	for _, pattern := range []string{"blob/??/*" + local.BlobExt, "backup/*.db", "damaged/*/lathe.db-wal"} {
		if found, _ := filepath.Glob(filepath.Join(s.dir, filepath.FromSlash(pattern))); len(found) > 0 {
			return true
		}
	}
	return false
}

// saveLog moves the write-ahead log of a missing database out of the way:
// SQLite would remove it, and it holds the latest writes.
func (s opener) saveLog() error {
	if fi, err := os.Stat(s.path()); err == nil && fi.Size() > 0 {
		return nil
	}
	log := s.path() + "-wal"
	if fi, err := os.Stat(log); err != nil || fi.Size() == 0 {
		return nil
	}
	dir, err := s.damagedDir()
	if err != nil {
		return err
	}
	_ = os.Remove(s.path() + "-shm")
	return os.Rename(log, filepath.Join(dir, "lathe.db-wal"))
}

// damagedDir makes a directory in which to keep something damaged.
func (s *core) damagedDir() (string, error) {
	all := filepath.Join(s.dir, "damaged")
	if err := os.MkdirAll(all, dirMode); err != nil {
		return "", err
	}
	return os.MkdirTemp(all, s.now().UTC().Format("20060102T150405")+"-*")
}

func (s *core) tooNew(v int) error {
	return lathe.Errorf(lathe.CodeInvalid,
		"update lathe, or set LATHE_HOME to another directory; the database was not touched",
		"the database %s has schema %d, made by a newer lathe; this one (%s) knows up to %d",
		s.path(), v, lathe.Version, schema)
}

// unfinished ends the names of backups that are being written. The migration
// lock is held while they are, so one that is found has no writer any more.
const unfinished = ".part"

// backup copies the database as of now into the backup directory. The copy gets
// its final name when it is complete and on disk.
func (s opener) backup(ctx context.Context, v int) error {
	dir := filepath.Join(s.dir, "backup")
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return fmt.Errorf("back up database before migration: %w", err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"+unfinished+"*")) // SQLite keeps a journal next to it
	for _, path := range left {
		_ = os.Remove(path)
	}
	to := filepath.Join(dir, fmt.Sprintf("lathe-v%d-%s.db", v, s.now().UTC().Format("20060102T150405.000000000")))
	_, err := s.conn.ExecContext(ctx, "VACUUM INTO ?", to+unfinished)
	if err == nil {
		err = finishFile(to+unfinished, to)
	}
	if err != nil {
		_ = os.Remove(to + unfinished)
		return fmt.Errorf("back up database to %s before migration: %w", to, err)
	}
	s.log.Info("backed up the database before migration", "path", to, "schema", v)
	return nil
}

// finishFile syncs a file and gives it its name.
func finishFile(from, to string) error {
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(fileMode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// migrate brings the tables from version v to the newest one, each step in a transaction.
func (s opener) migrate(ctx context.Context, v int) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	steps, err := migration.Steps(files, int64(v))
	if err != nil {
		return err
	}
	for _, step := range steps {
		if err := s.apply(ctx, step); err != nil {
			return fmt.Errorf("migrate database %s to schema %d: %w", s.path(), step.Version, err)
		}
	}
	return nil
}

// versionTable is where goose, and lathe after it, notes what was applied.
const versionTable = `CREATE TABLE IF NOT EXISTS goose_db_version (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	version_id INTEGER NOT NULL,
	is_applied INTEGER NOT NULL,
	tstamp TIMESTAMP DEFAULT (datetime('now'))
);
INSERT INTO goose_db_version (version_id, is_applied) SELECT 0, 1 WHERE NOT EXISTS (SELECT * FROM goose_db_version);`

func (s opener) apply(ctx context.Context, step migration.Step) error {
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // a committed transaction is not touched
	if _, err := tx.ExecContext(ctx, versionTable+step.SQL); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", step.Version); err != nil {
		return err
	}
	return tx.Commit()
}
