package postgres_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// Whoever indexes leaves alone what another is about to remove: waiting for it, each would wait
// for the other, and the database would undo one of them.
func TestIndexingWaitsForNoRemoval(t *testing.T) {
	url := pgtest.Schema(t)
	_, s := open(t, postgres.Options{URL: url})
	ctx := t.Context()
	must(t, s.CreateSession(ctx, storetest.Session("ses_1")))
	must(t, s.CreateSession(ctx, storetest.Session("ses_2")))
	for _, m := range []*lathe.Message{{ID: "msg_1", SessionID: "ses_1"}, {ID: "msg_2", SessionID: "ses_2"}, {ID: "msg_3", SessionID: "ses_1"}} {
		m.Info = &lathe.User{}
		m.Parts = []lathe.Part{{ID: lathe.PartID("prt" + m.ID[3:]), Body: &lathe.Text{Text: "words of " + string(m.ID)}}}
		must(t, s.AddMessage(ctx, m))
	}
	removing, err := pgx.Connect(ctx, url)
	must(t, err)
	defer removing.Close(ctx)
	_, err = removing.Exec(ctx, `BEGIN; SELECT 1 FROM message WHERE id = 'msg_1' FOR UPDATE; SELECT 1 FROM part WHERE id = 'prt_1' FOR UPDATE`)
	must(t, err)
	if n, err := s.Index(ctx); n != 1 || err != nil {
		t.Errorf("%d messages were indexed, %v", n, err)
	}
	_, err = removing.Exec(ctx, `ROLLBACK`)
	must(t, err)
	if n, err := s.Index(ctx); n != 2 || err != nil { // with what is behind it in its session
		t.Errorf("later %d messages were indexed, %v", n, err)
	}
}

// What search has to look at is noted by session. A message that is added while its session is
// forgotten, and one that was left open, are found later; so are those that a program of the
// version before notes one by one.
func TestIndexingBySession(t *testing.T) {
	url := pgtest.Schema(t)
	_, s := open(t, postgres.Options{URL: url})
	ctx, conn := t.Context(), connect(t, url)
	must(t, s.CreateSession(ctx, storetest.Session("ses_1")))
	added := 0
	add := func(info lathe.MessageInfo) *lathe.Message {
		t.Helper()
		added++
		m := &lathe.Message{ID: lathe.MessageID(fmt.Sprint("msg_", added)), SessionID: "ses_1", Info: info,
			Parts: []lathe.Part{{ID: lathe.PartID(fmt.Sprint("prt_", added)), Body: &lathe.Text{Text: "a needle"}}}}
		must(t, s.AddMessage(ctx, m))
		return m
	}
	index := func(want, left, noted int) {
		t.Helper()
		n, err := s.Index(ctx)
		must(t, err)
		unindexed, err := s.Unindexed(ctx)
		must(t, err)
		var rows int
		must(t, conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM search_later) + (SELECT count(*) FROM search_todo)`).Scan(&rows))
		if n != want || unindexed != left || rows != noted {
			t.Errorf("indexed %d, %d are left, %d rows say so; want %d, %d, %d", n, unindexed, rows, want, left, noted)
		}
	}
	index(0, 0, 0)
	add(&lathe.User{})
	add(&lathe.User{})
	index(2, 0, 0)
	open := add(&lathe.Assistant{})
	add(&lathe.User{})
	index(0, 2, 1) // what is behind an open answer waits for it
	open.Info = &lathe.Assistant{Completed: epoch}
	must(t, s.UpdateMessage(ctx, open))
	index(2, 0, 0)
	_, err := conn.Exec(ctx, `INSERT INTO search_todo (message) SELECT n FROM message WHERE id = 'msg_1'`)
	must(t, err)
	index(1, 0, 0)

	_, err = conn.Exec(ctx, `BEGIN; SELECT 1 FROM session FOR NO KEY UPDATE; DELETE FROM search_later`) // as who forgets it
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		add(&lathe.User{})
	}()
	for waits, looking := false, connect(t, url); !waits; {
		must(t, looking.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)`).Scan(&waits))
	}
	_, err = conn.Exec(ctx, `COMMIT`)
	must(t, err)
	<-done
	index(1, 0, 0)
	hits, err := s.Search(ctx, "needle", store.SearchFilter{Limit: 10})
	must(t, err)
	if len(hits) != added {
		t.Errorf("%d hits, want %d", len(hits), added)
	}
}

// A program of the version before says of what it indexes no message, and in a new database it may
// index what is being removed. What is removed later leaves search and pieces, too.
func TestSearchOfTheVersionBefore(t *testing.T) {
	for name, begin := range map[string]func(testing.TB, string){"new": func(testing.TB, string) {}, "in use before": grownUp} {
		t.Run(name, func(t *testing.T) {
			url := pgtest.Schema(t)
			begin(t, url)
			_, s := open(t, postgres.Options{URL: url})
			ctx, conn := t.Context(), connect(t, url)
			must(t, s.CreateSession(ctx, storetest.Session("ses_1")))
			must(t, s.AddMessage(ctx, storetest.UserMessage("ses_1", "msg_1", storetest.Text("prt_1", "a needle"), storetest.Text("prt_2", "a needle, too"))))
			_, err := s.Index(ctx)
			must(t, err)
			_, err = conn.Exec(ctx, `UPDATE search SET message = NULL WHERE part = (SELECT n FROM part WHERE id = 'prt_1')`)
			must(t, err)
			if name == "new" {
				_, err = conn.Exec(ctx, `INSERT INTO search (part, message, words) SELECT 4711, message, words FROM search WHERE message IS NOT NULL`)
				must(t, err)
			}
			hits, err := s.Search(ctx, "needle", store.SearchFilter{Limit: 10})
			must(t, err)
			if len(hits) != 2 {
				t.Errorf("%d hits, want 2", len(hits))
			}
			_, err = conn.Exec(ctx, `INSERT INTO piece (part, rev, at, data) SELECT n, 1, 0, 'x' FROM part`)
			must(t, err)
			must(t, s.Batch(ctx, func(tx store.Tx) error { return tx.RemovePart("prt_1") }))
			must(t, s.RemoveMessage(ctx, "ses_1", "msg_1"))
			var left int
			must(t, conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM search WHERE part <> 4711) + (SELECT count(*) FROM piece)`).Scan(&left))
			if left != 0 {
				t.Errorf("%d rows of removed parts are left", left)
			}
		})
	}
}
