package postgres_test

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/sqlite"
	"lathe/internal/store/storetest"
)

// What the same steps add to a database and to SQLite's file, with indexes and without the
// journal, which is emptied. The database is vacuumed, as it is by itself every minute.
// docs/scale.md says what the difference consists of. A transaction of another program that lasts
// keeps pages from being used anew, so what is too much is measured again: the least counts.
func TestGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		printed, steps int
		indexed        bool
		most           float64
	}{"nothing": {0, 2000, false, 1.32}, "kilobyte": {1000, 400, false, 1.2}, "indexed": {1000, 400, true, 1.35}} {
		t.Run(name, func(t *testing.T) {
			ratio := growth(t, c.printed, c.steps, c.indexed)
			for range 2 {
				if ratio > c.most {
					ratio = min(ratio, growth(t, c.printed, c.steps, c.indexed))
				}
			}
			if ratio > c.most {
				t.Errorf("the database grows %.2f times as fast as SQLite's, more than %.2f", ratio, c.most)
			}
		})
	}
}

// growth returns how many times what SQLite's file grows by the database does. Indexed, all of it
// is found by a search.
func growth(t *testing.T, printed, steps int, indexed bool) float64 {
	t.Helper()
	url, dir := pgtest.Schema(t), t.TempDir()
	_, db := open(t, postgres.Options{URL: url})
	beside, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir})
	must(t, err)
	t.Cleanup(func() { beside.Close() })
	files := storetest.Store{Store: beside.Store()}
	some := func() {
		work(t, db, steps/4, printed)
		work(t, files, steps/4, printed)
		for _, s := range []storetest.Store{db, files} {
			if indexed {
				_, err := s.Index(t.Context())
				must(t, err)
			}
		}
		kept(t, url)
	}
	some() // fills what an empty database has anyway: a page or two for each index
	some()
	before, beforeFiles := kept(t, url), keptInFile(t, dir)
	for range 4 {
		some()
	}
	grown := grew(t, "database", before, kept(t, url), steps)
	grownFiles := grew(t, "file", beforeFiles, keptInFile(t, dir), steps)
	ratio := float64(grown) / float64(grownFiles)
	t.Logf("%.1f and %.1f bytes a step: %.2f times", float64(grown)/float64(steps), float64(grownFiles)/float64(steps), ratio)
	return ratio
}

// grew logs by how much each table and index grew, and returns the sum.
func grew(t *testing.T, where string, before, after map[string]int64, steps int) (sum int64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if n := after[name] - before[name]; n != 0 {
			sum += n
			t.Logf("%-8s %-34s %7.1f bytes a step", where, name, float64(n)/float64(steps))
		}
	}
	return sum
}

// work stores steps with a command each as an engine does, ten to a turn, a hundred to a
// session; each command printed so much.
func work(t *testing.T, s storetest.Store, steps, printed int) {
	t.Helper()
	ids, ctx := lathe.NewIDs(nil, nil), t.Context()
	batch := func(fn func(store.Tx) error) { t.Helper(); must(t, s.Batch(ctx, fn)) }
	output := strings.Repeat("a line of output\n", printed/17)
	var ses lathe.Session
	var user *lathe.Message
	for i := range steps {
		if i%100 == 0 {
			ses = storetest.Session(ids.New(lathe.PrefixSession))
			batch(func(tx store.Tx) error { return tx.CreateSession(ses) })
		}
		if i%10 == 0 {
			user = storetest.UserMessage(ses.ID, ids.New(lathe.PrefixMessage), storetest.Text(ids.New(lathe.PrefixPart), "do as you were told"))
			batch(func(tx store.Tx) error { return tx.AddMessage(user) })
		}
		a := &lathe.Assistant{ParentID: user.ID, Agent: "build", Model: lathe.ModelRef{Provider: "test", Model: "model"}, Cwd: "/home/somebody/project", Root: "/home/somebody/project"}
		m := storetest.Assistant(ses.ID, ids.New(lathe.PrefixMessage), lathe.Assistant{})
		m.Info, m.Created = a, time.Now()
		put := func(body lathe.PartBody) *lathe.Part {
			p := &lathe.Part{ID: lathe.PartID(ids.New(lathe.PrefixPart)), SessionID: ses.ID, MessageID: m.ID, Body: body}
			batch(func(tx store.Tx) error { return tx.PutPart(p) })
			return p
		}
		batch(func(tx store.Tx) error { return tx.AddMessage(m) })
		put(&lathe.StepStart{})
		call := &lathe.ToolCall{CallID: fmt.Sprint("call_", i), Tool: "bash", State: &lathe.ToolPending{}}
		p := put(call)
		input := []byte(fmt.Sprintf(`{"command":"true %d","description":"nothing"}`, i))
		run := &lathe.ToolRunning{Input: input, Start: time.Now()}
		call.State = run
		batch(func(tx store.Tx) error { return tx.PutPart(p) })
		run.Metadata = map[string]any{"output": "some"}
		must(t, s.SaveProgress(ctx, p))
		call.State = &lathe.ToolDone{Input: input, Output: output, Title: "nothing", Time: lathe.Span{Start: run.Start, End: time.Now()},
			Metadata: map[string]any{"description": "nothing", "exit": 0, "output": output, "truncated": false}}
		batch(func(tx store.Tx) error { return tx.PutPart(p) })
		a.Finish, a.Tokens = "tool-calls", lathe.Tokens{Input: 12345, Output: 67}
		batch(func(tx store.Tx) error {
			if err := tx.PutPart(&lathe.Part{ID: lathe.PartID(ids.New(lathe.PrefixPart)), SessionID: ses.ID, MessageID: m.ID,
				Body: &lathe.StepFinish{Reason: "tool-calls", Tokens: a.Tokens}}); err != nil {
				return err
			}
			if err := tx.SetValue(ses.ID, "ledger", []byte(fmt.Sprint("step ", i))); err != nil {
				return err
			}
			_, err := tx.UpdateSession(ses.ID, func(s *lathe.Session) error { s.Tokens.Input += 12345; return nil })
			return err
		})
		batch(func(tx store.Tx) error { return tx.UpdateMessage(m) })
		a.Completed = time.Now()
		batch(func(tx store.Tx) error { return tx.UpdateMessage(m) })
	}
}

// kept is what each table and index of the database has. Left out are tables of what goes again:
// the room that they had is used anew.
func kept(t *testing.T, url string) map[string]int64 {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `VACUUM`)
	must(t, err)
	rows, err := conn.Query(t.Context(), `SELECT c.relname, pg_table_size(c.oid) FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'i') AND NOT ARRAY['event', 'piece', 'unclosed'] && ARRAY[c.relname::text, i.indrelid::regclass::text]`)
	must(t, err)
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var name string
		var size int64
		must(t, rows.Scan(&name, &size))
		out[name] = size
	}
	must(t, rows.Err())
	return out
}

// keptInFile is what each table and index of SQLite's database has, with what is still in its log.
// Pages of no table are those that are free.
func keptInFile(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "lathe.db")+"?mode=ro")
	must(t, err)
	defer db.Close()
	out := map[string]int64{}
	var size int64
	must(t, db.QueryRowContext(t.Context(), `SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`).Scan(&size))
	rows, err := db.QueryContext(t.Context(), `SELECT name, sum(pgsize) FROM dbstat GROUP BY name`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int64
		must(t, rows.Scan(&name, &n))
		out[name] = n
		size -= n
	}
	must(t, rows.Err())
	out["(free pages)"] = size
	return out
}
