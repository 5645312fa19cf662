package sqlite

import (
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/storetest"
)

// oldStore makes a database as it was with an earlier schema, with messages, and
// returns its directory. What a later schema adds is not in it.
func oldStore(t testing.TB, version int64, messages int) (dir string) {
	t.Helper()
	ctx := t.Context()
	dir = t.TempDir()
	s := opener{&core{dir: dir, log: slog.New(slog.DiscardHandler), now: time.Now, journal: "wal"}}
	must(t, private(s.path()))
	must(t, s.connect(ctx))
	defer s.conn.Close()
	defer s.writer.Close()
	defer s.reader.Close()
	must(t, s.conn.Close())
	p, err := goose.NewProvider(goose.DialectSQLite3, s.writer, os.DirFS("migrations"), goose.WithLogger(goose.NopLogger()))
	must(t, err)
	if _, err := p.UpTo(ctx, version); err != nil {
		t.Fatal(err)
	}
	tx, err := s.writer.Begin()
	must(t, err)
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := tx.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO project (id, worktree, vcs, created, updated) VALUES ('p', '/d', 'git', 1, 2)`)
	exec(`INSERT INTO session (id, project, parent, directory, title, created, updated, archived, messages, data) VALUES ('ses_old', 'p', '', '/d', 'old', 1, 2, 0, ?, '{}')`, messages)
	for i := range messages {
		exec(`INSERT INTO message (id, session, seq, role, created, open, summary, parts, data) VALUES (?, 1, ?, 'user', 1, 0, 0, 1, '{}')`, fmt.Sprintf("msg_%d", i), i+1)
		exec(`INSERT INTO part (id, message, seq, kind, open, rev, size, data) VALUES (?, ?, 1, 'text', 0, 1, 0, ?)`, fmt.Sprintf("prt_%d", i), i+1, fmt.Sprintf(`{"text":"word%d said"}`, i))
		if i%2 > 0 {
			continue
		}
		exec(`INSERT INTO search (rowid, body) VALUES (?, ?)`, i+1, fmt.Sprintf("word%d said", i))
		if version == 1 {
			exec(`INSERT INTO search_done (message) VALUES (?)`, i+1)
		} else {
			exec(`DELETE FROM search_todo WHERE message = ?`, i+1)
		}
	}
	must(t, tx.Commit())
	return dir
}

// checkMigrated expects all that an old store had, and an index that is brought
// up to date where it was not.
func checkMigrated(t *testing.T, s *testDB, messages int) {
	t.Helper()
	ctx := t.Context()
	whole(t, s)
	v, err := opener{s.core}.version(ctx)
	must(t, err)
	msgs, err := s.Tail(ctx, "ses_old")
	must(t, err)
	if v != schema || len(msgs) != messages {
		t.Fatalf("schema %d with %d messages of %d", v, len(msgs), messages)
	}
	n, err := s.Unindexed(ctx)
	must(t, err)
	if n != messages/2 {
		t.Errorf("%d messages to be indexed, want %d", n, messages/2)
	}
	done, err := s.Index(ctx)
	must(t, err)
	if done != n {
		t.Errorf("%d messages were indexed", done)
	}
	for _, i := range []int{0, 1, messages - 1} {
		hits, err := s.Search(ctx, fmt.Sprintf(`"word%d"`, i), store.SearchFilter{})
		must(t, err)
		if len(hits) != 1 || hits[0].Part != lathe.PartID(fmt.Sprintf("prt_%d", i)) {
			t.Errorf("word%d is found in %v", i, hits)
		}
	}
}

// TestMigrateOldSchema opens a store of each schema there was, and its backup.
func TestMigrateOldSchema(t *testing.T) {
	for version := int64(1); version < schema; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) { migrateFrom(t, version) })
	}
}

func migrateFrom(t *testing.T, version int64) {
	ctx, dir := t.Context(), oldStore(t, version, 10)
	s := open(t, dir)
	checkMigrated(t, s, 10)
	// What the newer schemas added is in use.
	must(t, s.AddMessage(ctx, storetest.Paid("ses_old", "msg_paid", 1)))
	must(t, s.RemoveMessage(ctx, "ses_old", "msg_paid"))
	if got := storetest.Answers(t, s.Store, time.Time{}); !slices.Equal(got, []lathe.Money{-1}) {
		t.Errorf("after an answer was removed: %v", got)
	}
	if p, err := s.Project(ctx, "p"); err != nil || p.Worktree != "/d" || p.Name != "" {
		t.Errorf("project %+v, %v", p, err)
	}
	backups, err := filepath.Glob(filepath.Join(dir, "backup", fmt.Sprintf("lathe-v%d-*.db", version)))
	must(t, err)
	if len(backups) != 1 {
		t.Fatalf("backups: %q", backups)
	}
	must(t, s.Close())
	// The backup is what it was before, and can be migrated itself.
	again := t.TempDir()
	data, err := os.ReadFile(backups[0])
	must(t, err)
	must(t, os.WriteFile(filepath.Join(again, "lathe.db"), data, 0o600))
	checkMigrated(t, open(t, again), 10)
}

// TestMigrationKilled kills processes at different moments of a migration. The
// next one ends it, and no half-written backup is taken for a whole one.
func TestMigrationKilled(t *testing.T) {
	rounds, messages := 8, 600
	if n, err := strconv.Atoi(os.Getenv("LATHE_KILL_ROUNDS")); err == nil && n > 0 {
		rounds, messages = n, 4000
	}
	old := map[int][]byte{} // by schema
	for version := 1; version < schema; version++ {
		data, err := os.ReadFile(filepath.Join(oldStore(t, int64(version), messages), "lathe.db"))
		must(t, err)
		old[version] = data
	}
	killed := 0
	var whole time.Duration
	for round := range rounds {
		data := old[1+round%len(old)]
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "lathe.db"), data, 0o600))
		cmd := exec.CommandContext(t.Context(), os.Args[0], dir, "x")
		cmd.Env = append(os.Environ(), roleEnv+"=open")
		began := time.Now()
		must(t, cmd.Start())
		if round > 0 { // the first is let alone, and says how long one takes
			time.AfterFunc(whole*time.Duration(round)/time.Duration(rounds), func() { _ = cmd.Process.Kill() })
		}
		if err := cmd.Wait(); err != nil {
			killed++
		}
		if round == 0 {
			whole = time.Since(began)
		}
		s := open(t, dir)
		checkMigrated(t, s, messages)
		must(t, s.Close())
		files, err := os.ReadDir(filepath.Join(dir, "backup"))
		must(t, err)
		for _, f := range files {
			if strings.Contains(f.Name(), unfinished) {
				t.Errorf("round %d: %s is left", round, f.Name())
				continue
			}
			if answer := verdict(t, filepath.Join(dir, "backup", f.Name())); answer != "ok" {
				t.Errorf("round %d: backup %s: %s", round, f.Name(), answer)
			}
		}
	}
	t.Logf("%d of %d were killed", killed, rounds)
	if killed == 0 {
		t.Error("no process was killed")
	}
}

// verdict is what SQLite says of a database file.
func verdict(t *testing.T, path string) (answer string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	must(t, db.QueryRowContext(t.Context(), "PRAGMA integrity_check(1)").Scan(&answer))
	return answer
}

// TestTablesAreAsGooseMadeThem compares a new database with one that goose makes of the
// same files, as earlier versions of lathe did.
func TestTablesAreAsGooseMadeThem(t *testing.T) {
	made := func(s *testDB) (all []string) {
		t.Helper()
		for _, q := range []string{
			`SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name`,
			`SELECT version_id || ' ' || is_applied FROM goose_db_version ORDER BY id`,
		} {
			rows, err := s.reader.Query(q)
			must(t, err)
			defer rows.Close()
			for rows.Next() {
				var text string
				must(t, rows.Scan(&text))
				all = append(all, strings.Join(strings.Fields(text), " "))
			}
			must(t, rows.Err())
		}
		return all
	}
	before, now := made(open(t, oldStore(t, schema, 0))), made(open(t, t.TempDir()))
	if diff := cmp.Diff(before, now); diff != "" {
		t.Errorf("the tables (-by goose +by lathe):\n%s", diff)
	}
}
