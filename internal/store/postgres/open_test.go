package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

func open(t testing.TB, o postgres.Options) (*postgres.DB, storetest.Store) {
	t.Helper()
	db, err := postgres.Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db, storetest.Store{Store: db.Store()}
}

// Servers that start at once on an empty database make its tables once.
func TestMigrationByMany(t *testing.T) {
	url := pgtest.Schema(t)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			db, err := postgres.Open(t.Context(), postgres.Options{URL: url})
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			s := storetest.Store{Store: db.Store()}
			if err := s.CreateSession(t.Context(), storetest.Session(fmt.Sprint("ses_", i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, s := open(t, postgres.Options{URL: url})
	all, err := s.Sessions(t.Context(), store.SessionFilter{})
	must(t, err)
	if len(all) != 6 {
		t.Errorf("%d sessions", len(all))
	}
}

// What cannot be opened says why and what to do, without the password.
func TestRefusals(t *testing.T) {
	server := pgtest.Shared(t)
	newer := pgtest.Schema(t)
	db, _ := open(t, postgres.Options{URL: newer})
	must(t, db.Close())
	schemaOf := newer[strings.Index(newer, "search_path=")+len("search_path="):]
	schemaOf, _, _ = strings.Cut(schemaOf, "&")
	server.Exec(t, "INSERT INTO "+schemaOf+".goose_db_version (version_id, is_applied) VALUES (99, true)",
		"REVOKE CREATE ON SCHEMA public FROM PUBLIC", // as newer versions have it
		"DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN PASSWORD 'right'")
	const secret = "s3cret-word"
	guest := func(password string) string {
		return strings.Replace(server.URL(), "lathe@", "guest:"+password+"@", 1)
	}
	for _, tt := range []struct {
		name, url string
		code      lathe.Code
		says      string
	}{
		{"nothing there", "postgres://lathe:" + secret + "@/postgres?host=" + filepath.Join(t.TempDir(), "none"), lathe.CodeUnavailable, "cannot be reached"},
		{"a wrong password", guest(secret), lathe.CodeAuth, "password authentication failed"},
		{"no such database", strings.Replace(server.URL(), "/postgres?", "/nothing?", 1), lathe.CodeInvalid, "there is no database nothing"},
		{"newer tables", newer, lathe.CodeInvalid, "has schema 99, made by a newer lathe"},
		{"may not make tables", guest("right"), lathe.CodePermission, "may not work in the database"},
		{"not an address", "postgres://" + secret + ":x:y@@/%zz", lathe.CodeInvalid, "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := postgres.Open(t.Context(), postgres.Options{URL: tt.url, Wait: 50 * time.Millisecond})
			e, ok := errors.AsType[*lathe.Error](err)
			if !ok || e.Code != tt.code || e.Hint == "" || !strings.Contains(e.Msg, tt.says) {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("tells the password: %v", err)
			}
		})
	}
}

// A database that only reads, such as a replica, says so, and works again once it is
// promoted, without a restart.
func TestReadOnlyDatabase(t *testing.T) {
	url := pgtest.Schema(t)
	open(t, postgres.Options{URL: url})
	_, s := open(t, postgres.Options{URL: url + "&default_transaction_read_only=on&pool_max_conns=1"})
	err := s.CreateSession(t.Context(), storetest.Session("ses_1"))
	if !errors.Is(err, store.ErrReadOnly) || lathe.CodeOf(err) != lathe.CodeReadOnly || s.Trouble() == nil {
		t.Fatalf("a write: %v, trouble %v", err, s.Trouble())
	}
	if _, err := s.Sessions(t.Context(), store.SessionFilter{}); err != nil {
		t.Errorf("a read: %v", err)
	}
	if err := s.Probe(t.Context()); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("probe: %v", err)
	}
	must(t, s.Batch(t.Context(), func(tx store.Tx) error { return nil }))
}

// A database that goes away and comes back costs no more than a wait. One that stays
// away is reported in time, and what was reported as stored is there.
func TestDatabaseRestarts(t *testing.T) {
	server := pgtest.Start(t)
	_, s := open(t, postgres.Options{URL: server.URL(), Wait: time.Minute})
	_, hasty := open(t, postgres.Options{URL: server.URL(), Wait: 50 * time.Millisecond})
	must(t, s.CreateSession(t.Context(), storetest.Session("ses_before")))
	server.Stop()

	err := hasty.CreateSession(t.Context(), storetest.Session("ses_never"))
	if !errors.Is(err, store.ErrAway) || lathe.CodeOf(err) != lathe.CodeUnavailable || hasty.Trouble() == nil {
		t.Errorf("a write while it is away: %v", err)
	}
	if _, err := hasty.Session(t.Context(), "ses_before"); !errors.Is(err, store.ErrAway) {
		t.Errorf("a read while it is away: %v", err)
	}
	done := make(chan error, 2)
	go func() { done <- s.CreateSession(t.Context(), storetest.Session("ses_after")) }()
	go func() {
		_, err := s.Session(context.Background(), "ses_before")
		done <- err
	}()
	server.Restart(t)
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("what waited: %v", err)
		}
	}
	if _, err := s.Session(t.Context(), "ses_after"); err != nil {
		t.Error(err)
	}
	must(t, hasty.Probe(t.Context()))
	if err := hasty.Trouble(); err != nil {
		t.Errorf("trouble after it came back: %v", err)
	}
}

// Bytes that PostgreSQL does not take come back as replacement characters.
func TestTextThatIsNone(t *testing.T) {
	_, s := open(t, postgres.Options{URL: pgtest.Schema(t)})
	ses := storetest.Session("ses_1")
	ses.Title, ses.Directory = "a\x00b\xff", "/wo\x00rk\xfe"
	must(t, s.CreateSession(t.Context(), ses))
	got, err := s.Session(t.Context(), "ses_1")
	must(t, err)
	if got.Title != "a\uFFFDb\uFFFD" || got.Directory != "/wo\uFFFDrk\uFFFD" {
		t.Errorf("%q in %q", got.Title, got.Directory)
	}
	if found, err := s.Sessions(t.Context(), store.SessionFilter{Directory: ses.Directory, Search: "A\x00"}); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	m := &lathe.Message{ID: "msg_1", SessionID: "ses_1", Info: &lathe.User{}, Parts: []lathe.Part{{ID: "prt_1", Body: &lathe.Text{Text: "zero\x00byte"}}}}
	must(t, s.AddMessage(t.Context(), m))
	back, err := s.Message(t.Context(), "ses_1", "msg_1")
	must(t, err)
	if text := back.Parts[0].Body.(*lathe.Text).Text; text != "zero\x00byte" {
		t.Errorf("%q", text)
	}
	if _, err := s.Index(t.Context()); err != nil {
		t.Error(err)
	}
}
