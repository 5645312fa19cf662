package postgres_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// expand migrates a database as a newer version would, for programs from a schema on.
func expand(t testing.TB, url string, from int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_name <> 'goose_db_version'`)
	must(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	if len(tables) < 15 {
		t.Fatalf("tables: %q", tables)
	}
	var sql strings.Builder
	for _, table := range tables {
		fmt.Fprintf(&sql, "ALTER TABLE %s ADD COLUMN later TEXT NOT NULL DEFAULT 'x';\n", table)
	}
	fmt.Fprintf(&sql, "CREATE TABLE later (n BIGINT);\nINSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, true);\n", postgres.Schema+1)
	fmt.Fprintf(&sql, "COMMENT ON TABLE goose_db_version IS 'lathe with schema %d, for programs from %d'", postgres.Schema+1, from)
	_, err = conn.PgConn().Exec(t.Context(), sql.String()).ReadAll()
	must(t, err)
}

// A program does all that a store has to do on tables that a newer one has added to, as
// while the servers of a team are replaced one after the other. Their columns stand as they
// did in the first version.
func TestContractOnNewerSchema(t *testing.T) {
	pgtest.Shared(t)
	var last schema
	storetest.Run(t, storetest.Under{
		New: func(t testing.TB) storetest.Place {
			last = schema(pgtest.Schema(t))
			grownUp(t, string(last))
			expand(t, string(last), postgres.Schema)
			return last
		},
		Living: func(t testing.TB) (store.Owner, func()) { return living(t, last) },
		Crash:  crash,
	})
}

// Servers of the old version that run go on when a newer one migrates the database, and one
// that is started then works or is refused, as the migration says; nothing is touched.
func TestTwoVersions(t *testing.T) {
	url := pgtest.Schema(t)
	_, running := open(t, postgres.Options{URL: url})
	must(t, running.CreateSession(t.Context(), storetest.Session("ses_before")))
	expand(t, url, postgres.Schema)
	must(t, running.CreateSession(t.Context(), storetest.Session("ses_meanwhile")))
	_, started := open(t, postgres.Options{URL: url})
	must(t, started.CreateSession(t.Context(), storetest.Session("ses_after")))
	all, err := running.Sessions(t.Context(), store.SessionFilter{})
	must(t, err)
	if len(all) != 3 {
		t.Errorf("%d sessions", len(all))
	}

	other := pgtest.Schema(t)
	db, _ := open(t, postgres.Options{URL: other})
	must(t, db.Close())
	expand(t, other, postgres.Schema+1)
	_, err = postgres.Open(t.Context(), postgres.Options{URL: other})
	if lathe.CodeOf(err) != lathe.CodeInvalid || !strings.Contains(err.Error(), "made by a newer lathe") {
		t.Errorf("a program that is too old: %v", err)
	}
}

// takes are the words of a migration that takes something away from programs which run.
var takes = regexp.MustCompile(`(?i)\b(DROP|RENAME|TRUNCATE|SET\s+NOT\s+NULL|ALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE|ADD\s+CONSTRAINT|CREATE\s+UNIQUE)\b`)

// Migrations after the oldest schema that programs may have only add. What they add has to
// have a default, since those programs store rows without it.
func TestMigrationsOnlyAdd(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	must(t, err)
	if len(files) != postgres.Schema || postgres.Oldest > postgres.Schema {
		t.Fatalf("schema %d for programs from %d, but the files are %q", postgres.Schema, postgres.Oldest, files)
	}
	for i, path := range files {
		if i+1 <= postgres.Oldest {
			continue
		}
		text, err := os.ReadFile(path)
		must(t, err)
		for _, fault := range takesAway(string(text)) {
			t.Errorf("%s: %q: programs with schema %d would fail; see decision 14", path, fault, postgres.Oldest)
		}
	}
	for _, fault := range []string{"DROP TABLE x", "ALTER TABLE x\n RENAME a TO b", "ALTER TABLE x ADD COLUMN a TEXT NOT NULL", "ALTER TABLE x ALTER COLUMN a TYPE TEXT"} {
		if len(takesAway(fault)) == 0 {
			t.Errorf("%q only adds", fault)
		}
	}
	for _, fine := range []string{"-- DROP nothing\nCREATE TABLE x (a TEXT NOT NULL)", "ALTER TABLE x ADD COLUMN a TEXT NOT NULL DEFAULT ''", "ALTER TABLE x ADD COLUMN a TEXT"} {
		if got := takesAway(fine); len(got) > 0 {
			t.Errorf("%q takes %q", fine, got)
		}
	}
}

// spared are parts of migrations that take something away which no program misses: an index is
// there for speed, a message's parts are numbered under its lock, and columns of tables without
// rows come back with the same names.
var spared = regexp.MustCompile(`(?s)DROP INDEX \w+|ALTER TABLE part DROP CONSTRAINT part_message_seq_key|DO \$\$ BEGIN\s+IF EXISTS \(SELECT FROM message\) THEN\s+RETURN;.*?END \$\$`)

// takesAway returns the statements of a migration that do more than add.
func takesAway(sql string) (faults []string) {
	sql = regexp.MustCompile(`--[^\n]*`).ReplaceAllString(sql, "")
	sql = spared.ReplaceAllString(sql, "")
	for s := range strings.SplitSeq(sql, ";") {
		upper := strings.ToUpper(s)
		needs := strings.Contains(upper, "ADD COLUMN") && strings.Contains(upper, "NOT NULL") && !strings.Contains(upper, "DEFAULT")
		if takes.MatchString(s) || needs {
			faults = append(faults, strings.TrimSpace(s))
		}
	}
	return faults
}
