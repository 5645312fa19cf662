package postgres_test

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// fill makes sessions with messages and parts that search knows; each has a word of its own.
const fill = `INSERT INTO session (n, id, project, parent, directory, title, created, updated, archived, messages, data)
		SELECT s, 'ses_' || s, 'p1', '', '/work', 'Old', s, s, 0, 100, '{"model":{"provider":"x","model":"m"},"tokens":{}}' FROM generate_series(1, 50) s;
	INSERT INTO message (n, id, session, seq, role, created, completed, open, summary, parts, data)
		SELECT m, 'msg_' || lpad(m::text, 6, '0'), 1 + m / 100, 1 + m % 100, 'user', m, 0, false, false, 4, '{"agent":"build","model":{"provider":"x","model":"m"}}' FROM generate_series(0, 4999) m;
	INSERT INTO part (n, id, message, seq, kind, open, rev, size, data)
		SELECT p, 'prt_' || lpad(p::text, 6, '0'), p / 4, 1 + p % 4, 'text', false, 1, 9, convert_to('{"text":"word w' || p || '","time":{}}', 'UTF8') FROM generate_series(0, 19999) p;
	INSERT INTO search (part, message, words) SELECT n, message, to_tsvector('simple', 'word w' || n) FROM part;
	SELECT setval(pg_get_serial_sequence(t, 'n'), 30000) FROM unnest('{session,message,part}'::text[]) t`

// What a turn, a reader, a search, a sweep and a move do to a database with many parts reads no
// table of parts as a whole, nor does it need an index over their numbers.
func TestNothingScansAllParts(t *testing.T) {
	for name, begin := range map[string]func(testing.TB, string){"new": func(testing.TB, string) {}, "in use before": grownUp} {
		t.Run(name, func(t *testing.T) {
			url := pgtest.Schema(t)
			begin(t, url)
			made, _ := open(t, postgres.Options{URL: url + "&application_name=fills"})
			must(t, made.Close())
			conn := connect(t, url+"&application_name=fills")
			_, err := conn.PgConn().Exec(t.Context(), fill).ReadAll()
			must(t, err)
			_, err = conn.Exec(t.Context(), `VACUUM ANALYZE`)
			must(t, err)
			looks := connect(t, url)
			before := scansOf(t, looks, "fills", conn.Close)
			db, s := open(t, postgres.Options{URL: url + "&application_name=scans"})
			used(t, s)
			moved(t, db)
			if after := scansOf(t, looks, "scans", func(context.Context) error { return db.Close() }); after != before {
				t.Errorf("scans %+v, were %+v", after, before)
			}
		})
	}
}

// scans are how often parts were read as a whole, and looked for by number.
type scans struct{ whole, byNumber int64 }

// scansOf counts them once the connections of that name, which end closes, are gone: the database counts what
// they did when they end, at the latest. PostgreSQL 13 and 14 may answer with what was true 500 ms before.
func scansOf(t *testing.T, conn *pgx.Conn, of string, end func(context.Context) error) (n scans) {
	t.Helper()
	ctx := t.Context()
	must(t, end(ctx))
	for gone := false; !gone; {
		must(t, conn.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = $1)`, of).Scan(&gone))
	}
	_, err := conn.Exec(ctx, `SELECT pg_sleep(CASE WHEN current_setting('server_version_num')::int < 150000 THEN 0.6 ELSE 0 END)`)
	must(t, err)
	must(t, conn.QueryRow(ctx, `SELECT seq_scan, (SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes
		WHERE schemaname = current_schema() AND indexrelname = 'part_n')
		FROM pg_stat_user_tables WHERE schemaname = current_schema() AND relname = 'part'`).Scan(&n.whole, &n.byNumber))
	return n
}

// moved reads parts as a move does.
func moved(t *testing.T, db *postgres.DB) {
	t.Helper()
	all := store.Carried()
	part := all[slices.IndexFunc(all, func(c store.Table) bool { return c.Name == "part" })]
	var after []any
	for range 3 {
		rows, err := db.Carrier().Rows(t.Context(), part, after, 500)
		must(t, err)
		after = part.KeyOf(rows[len(rows)-1])
	}
	if after[0].(int64) != 374 {
		t.Errorf("the last of 1500 parts is in message %v", after[0])
	}
}

// used does what programs do all the time.
func used(t *testing.T, s storetest.Store) {
	t.Helper()
	ctx := t.Context()
	put := func(p *lathe.Part) { t.Helper(); must(t, s.PutPart(ctx, p)) }
	must(t, s.AddMessage(ctx, storetest.UserMessage("ses_7", "msg_x1", storetest.Text("prt_x1", "go"))))
	m := storetest.Assistant("ses_7", "msg_x2", lathe.Assistant{})
	must(t, s.AddMessage(ctx, m))
	text := &lathe.Part{ID: "prt_x2", SessionID: "ses_7", MessageID: m.ID, Body: &lathe.Text{Text: "so ", Time: lathe.Span{Start: epoch}}}
	put(text)
	must(t, s.AppendText(ctx, text.ID, 3, "far"))
	call := &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolRunning{Start: epoch, Metadata: map[string]any{"output": "some"}}}
	tool := &lathe.Part{ID: "prt_x3", SessionID: "ses_7", MessageID: m.ID, Body: call}
	put(tool)
	must(t, s.SaveProgress(ctx, tool))
	_, err := s.Sweep(ctx)
	must(t, err)
	if _, err := s.Unclosed(ctx); err != nil {
		t.Error(err)
	}
	text.Body = &lathe.Text{Text: "so far", Time: lathe.Span{Start: epoch, End: epoch}}
	put(text)
	call.State = &lathe.ToolDone{Output: "needle", Time: lathe.Span{Start: epoch, End: epoch}}
	put(tool)
	m.Info = &lathe.Assistant{Completed: epoch}
	must(t, s.UpdateMessage(ctx, m))
	_, err = s.Index(ctx)
	must(t, err)
	for _, word := range []string{"w12345", "needle"} {
		hits, err := s.Search(ctx, word, store.SearchFilter{})
		must(t, err)
		if len(hits) != 1 {
			t.Errorf("%d hits of %s", len(hits), word)
		}
	}
	for range s.Messages(ctx, "ses_7", store.MessageFilter{Limit: 40}) {
	}
	_, err = s.Tail(ctx, "ses_7")
	must(t, err)
	gone := &lathe.Part{ID: "prt_x4", SessionID: "ses_7", MessageID: m.ID, Body: &lathe.StepStart{}}
	put(gone)
	must(t, s.Batch(ctx, func(tx store.Tx) error { return tx.RemovePart(gone.ID) }))
	must(t, s.RemoveMessage(ctx, "ses_7", m.ID))
}
