package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
	"lathe/internal/store/storetest"
)

func TestOpenAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b%20?#;é", "data")
	s := open(t, dir)
	seed(t, s, "ses_a")
	if got := s.Journal(); got != "wal" {
		t.Logf("journal is %s here", got)
	}
	must(t, s.Close())
	must(t, s.Close())
	if err := s.CreateSession(t.Context(), storetest.Session("ses_b")); !errors.Is(err, errClosed) {
		t.Errorf("write after close: %v", err)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{dir: dirMode, s.path(): fileMode} {
			fi, err := os.Stat(path)
			must(t, err)
			if fi.Mode().Perm() != want {
				t.Errorf("%s has mode %o", path, fi.Mode().Perm())
			}
		}
		must(t, os.Chmod(s.path(), 0o644))
	}
	s = open(t, dir)
	got, err := s.Session(t.Context(), "ses_a")
	must(t, err)
	equal(t, storetest.Session("ses_a"), got)
	fi, err := os.Stat(s.path())
	must(t, err)
	if runtime.GOOS != "windows" && fi.Mode().Perm() != fileMode {
		t.Errorf("a wider mode stays: %o", fi.Mode().Perm())
	}
	if files, _ := os.ReadDir(filepath.Join(dir, "backup")); len(files) > 0 {
		t.Errorf("backup without a migration: %v", files)
	}
}

func TestSchemaIsNewestMigration(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	must(t, err)
	if len(files) != schema || !strings.HasPrefix(filepath.Base(files[schema-1]), fmt.Sprintf("%05d_", schema)) {
		t.Errorf("schema is %d, migrations are %v", schema, files)
	}
	for i, f := range files {
		data, err := os.ReadFile(f)
		must(t, err)
		if want := fmt.Sprintf("PRAGMA user_version = %d;", i+1); !strings.Contains(string(data), want) {
			t.Errorf("%s lacks %q", f, want)
		}
	}
}

func TestNewerSchema(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	seed(t, s, "ses_a")
	_, err := s.conn.ExecContext(t.Context(), "PRAGMA user_version = 99")
	must(t, err)
	must(t, s.Close())
	before, err := os.ReadFile(s.path())
	must(t, err)
	_, err = Open(t.Context(), Options{Dir: dir})
	e, ok := errors.AsType[*lathe.Error](err)
	if !ok || e.Code != lathe.CodeInvalid || !strings.Contains(e.Msg, "schema 99") || !strings.Contains(e.Hint, "update lathe") {
		t.Errorf("newer schema: %v", err)
	}
	after, err := os.ReadFile(s.path())
	must(t, err)
	if string(before) != string(after) {
		t.Error("the newer database was changed")
	}
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	seed(t, s, "ses_a")
	must(t, opener{s.core}.backup(t.Context(), 1))
	files, err := filepath.Glob(filepath.Join(dir, "backup", "*.db"))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("backups: %v", files)
	}
	must(t, s.Close())

	for name, damage := range map[string]func() error{
		"not a database": func() error { return os.WriteFile(s.path(), []byte(strings.Repeat("junk", 4096)), 0o600) },
		"cut short":      func() error { return os.Truncate(s.path(), 5000) },
	} {
		data, err := os.ReadFile(files[0])
		must(t, err)
		must(t, os.WriteFile(s.path(), data, 0o600))
		must(t, damage())
		broken, err := openTest(t.Context(), Options{Dir: dir})
		if err == nil { // the header can be intact
			_, err = broken.Sessions(t.Context(), store.SessionFilter{})
			broken.Close()
		}
		e, ok := errors.AsType[*lathe.Error](err)
		if !ok || !strings.Contains(e.Msg, "is damaged") || !strings.Contains(e.Hint, files[0]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The backup is the way out.
	data, err := os.ReadFile(files[0])
	must(t, err)
	os.Remove(s.path() + "-wal")
	os.Remove(s.path() + "-shm")
	must(t, os.WriteFile(s.path(), data, 0o600))
	s = open(t, dir)
	whole(t, s)
	got, err := s.Session(t.Context(), "ses_a")
	must(t, err)
	equal(t, storetest.Session("ses_a"), got)
}

// Root may write anywhere, so the directories here are ones that nobody can make.
func TestUnusableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	dirs := []string{"", filepath.Join(file, "data")}
	if os.Getuid() != 0 && runtime.GOOS != "windows" {
		locked := t.TempDir()
		must(t, os.Chmod(locked, 0o500))
		dirs = append(dirs, locked)
	}
	for _, dir := range dirs {
		s, err := openTest(t.Context(), Options{Dir: dir})
		if err == nil {
			s.Close()
			t.Errorf("%q was opened", dir)
			continue
		}
		if e, ok := errors.AsType[*lathe.Error](err); dir != "" && (!ok || e.Hint == "") {
			t.Errorf("%q: no hint in %v", dir, err)
		}
	}
}

// The rollback journal that network filesystems get keeps the same promises.
func TestRollbackJournal(t *testing.T) {
	dir := t.TempDir()
	remote := func() *testDB {
		t.Helper()
		s, err := openOn(t.Context(), Options{Dir: dir}, func(string) string { return "nfs" })
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		return asTest(s)
	}
	local := open(t, dir)
	equal(t, "wal", local.Journal())
	must(t, local.Close())
	s, other := remote(), remote()
	equal(t, "truncate", s.Journal())
	var mode string
	must(t, s.conn.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode))
	equal(t, "truncate", mode)
	seed(t, s, "ses_a")
	var wg sync.WaitGroup
	for name, s := range map[string]*testDB{"a": s, "b": other} {
		wg.Go(func() {
			for i := range 20 {
				m := storetest.UserMessage("ses_a", fmt.Sprintf("msg_%s%d", name, i))
				if err := s.AddMessage(t.Context(), m); err != nil {
					t.Error(err)
				}
				if _, err := s.Message(t.Context(), "ses_a", m.ID); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// A real full disk needs a mount of its own; a database that may not grow gives
// the same error from SQLite.
func TestFull(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	ses := seed(t, s, "ses_a")
	var pages int
	must(t, s.conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages))
	limit := func(n int) {
		t.Helper()
		must(t, s.conn.QueryRowContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", n)).Scan(new(int)))
	}
	limit(pages + 1)
	var err error
	var stored []lathe.Message
	for i := 0; err == nil && i < 1000; i++ {
		m := storetest.UserMessage(ses, fmt.Sprint("msg_", i), storetest.Text(fmt.Sprint("prt_", i), strings.Repeat("x", 4000)))
		if err = s.AddMessage(ctx, m); err == nil {
			stored = append(stored, *m)
		}
	}
	if !errors.Is(err, store.ErrFull) {
		t.Fatalf("a full database: %v", err)
	}
	if e, ok := errors.AsType[*lathe.Error](err); !ok || e.Hint == "" {
		t.Errorf("no hint in %v", err)
	}
	limit(1 << 30)
	m := storetest.UserMessage(ses, "msg_after", storetest.Text("prt_after", "room again"))
	must(t, s.AddMessage(ctx, m))
	got, err := s.Tail(ctx, ses)
	must(t, err)
	equal(t, append(stored, *m), got)
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	s, ctx := open(t, dir), t.Context()
	ses := seed(t, s, "ses_a")
	a, b := strings.Repeat("a", codec.Spill+1), strings.Repeat("b", codec.Spill+1)
	must(t, s.AddMessage(ctx, storetest.UserMessage(ses, "msg_1", storetest.Text("prt_1", a), storetest.Text("prt_2", b), storetest.Text("prt_3", a))))
	must(t, s.AddMessage(ctx, storetest.Assistant(ses, "msg_2", lathe.Assistant{})))
	must(t, s.PutPart(ctx, openText1("ses_a", "msg_2", "prt_4")))
	must(t, s.AppendText(ctx, "prt_4", 0, "live"))
	must(t, s.SetDiffs(ctx, ses, "", []lathe.FileDiff{{File: "f", Before: b}}))
	sweep := func(want int) {
		t.Helper()
		got, err := s.Sweep(ctx)
		must(t, err)
		if got.Files != want {
			t.Errorf("swept %d files, want %d", got.Files, want)
		}
	}
	sweep(0)
	must(t, os.WriteFile(filepath.Join(dir, "blob", "new-1"), []byte("left by a crash"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "open", "99-1"), []byte("left by a crash"), 0o600))
	sweep(2)
	must(t, s.RemovePart(ctx, "prt_1"))
	must(t, s.RemovePart(ctx, "prt_2"))
	sweep(0)
	must(t, s.SetDiffs(ctx, ses, "", nil))
	sweep(1)
	must(t, s.RemoveMessage(ctx, ses, "msg_2"))
	sweep(1)
	m, err := s.Message(ctx, ses, "msg_1")
	must(t, err)
	equal(t, a, m.Parts[0].Body.(*lathe.Text).Text)
}
