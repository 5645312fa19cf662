package postgres_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// A disk that is full is said, what was stored before is still read, and what fits is
// stored again.
func TestFullDisk(t *testing.T) {
	server := pgtest.StartFull(t)
	_, s := open(t, postgres.Options{URL: server.URL()})
	must(t, s.CreateSession(t.Context(), storetest.Session("ses_1")))
	noise := make([]byte, 1<<20)
	var err error
	for i := 0; err == nil && i < 64; i++ {
		_, _ = rand.Read(noise)
		err = s.SetValue(t.Context(), "ses_1", hex.EncodeToString(noise[:8]), noise)
	}
	if !errors.Is(err, store.ErrFull) || lathe.CodeOf(err) != lathe.CodeFull || s.Trouble() == nil {
		t.Fatalf("a write: %v, trouble %v", err, s.Trouble())
	}
	if _, err := s.Session(t.Context(), "ses_1"); err != nil {
		t.Errorf("a read: %v", err)
	}
	must(t, s.CreateSession(t.Context(), storetest.Session("ses_2")))
	if err := s.Trouble(); err != nil {
		t.Errorf("trouble after a write: %v", err)
	}
}

// A database that takes no more connections says what to do, and serves as soon as there
// is one to be had.
func TestTooManyConnections(t *testing.T) {
	server := pgtest.Start(t)
	server.Exec(t, "CREATE ROLE single LOGIN CONNECTION LIMIT 1", "GRANT CREATE ON SCHEMA public TO single")
	url := strings.Replace(server.URL(), "lathe@", "single@", 1) + "&pool_max_conns=1"
	first, _ := open(t, postgres.Options{URL: url})
	_, err := postgres.Open(t.Context(), postgres.Options{URL: url, Wait: 50 * time.Millisecond})
	e, ok := errors.AsType[*lathe.Error](err)
	if !ok || e.Code != lathe.CodeUnavailable || !errors.Is(err, store.ErrAway) || !strings.Contains(e.Hint, "max_connections") {
		t.Fatalf("got %v", err)
	}
	must(t, first.Close())
	_, s := open(t, postgres.Options{URL: url, Wait: time.Minute})
	must(t, s.CreateSession(t.Context(), storetest.Session("ses_1")))
}

// When the primary is gone and a replica is promoted, a server whose address names both
// goes on there by itself, with what was stored and with its leases.
func TestFailover(t *testing.T) {
	primary := pgtest.Start(t)
	replica := primary.Replica(t)
	both := strings.Replace(primary.URL("target_session_attrs", "read-write"), "host=", "host="+replica.Host()+",", 1)
	db, s := open(t, postgres.Options{URL: both, Wait: time.Minute, Life: time.Minute})
	must(t, s.CreateSession(t.Context(), storetest.Session("ses_1")))
	lease, err := s.Acquire(t.Context(), "ses_1", db.Self())
	must(t, err)
	replica.Follow(t, primary)
	primary.Stop()
	done := make(chan error)
	go func() { done <- s.CreateSession(context.WithoutCancel(t.Context()), storetest.Session("ses_2")) }()
	replica.Promote(t)
	must(t, <-done)
	for _, id := range []lathe.SessionID{"ses_1", "ses_2"} {
		if _, err := s.Session(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if ok, err := lease.Valid(t.Context()); !ok || err != nil {
		t.Errorf("its lease: %v, %v", ok, err)
	}
	_, err = s.UpdateSession(t.Context(), "ses_1", func(*lathe.Session) error { return nil })
	must(t, err)
	if err := s.Trouble(); err != nil {
		t.Errorf("trouble: %v", err)
	}
}

// Everything that a store has to do works through a pooler that gives each transaction
// another connection.
func TestPooler(t *testing.T) {
	server := pgtest.Shared(t)
	var last schema
	storetest.Run(t, storetest.Under{
		New: func(t testing.TB) storetest.Place {
			last = schema(server.Pooled(t, pgtest.Schema(t)))
			return last
		},
		Living: func(t testing.TB) (store.Owner, func()) { return living(t, last) },
		Crash:  crash,
	})
}

// A server that was paused in the middle of a change, or whose network went, holds what others
// wait for. The database takes it back, so that they go on, and what the paused one was about to
// store is undone.
func TestPausedServerHoldsNobodyUp(t *testing.T) {
	url := pgtest.Schema(t)
	db, paused := open(t, postgres.Options{URL: url})
	db.BoundIdle(300 * time.Millisecond)
	_, s := open(t, postgres.Options{URL: url})
	must(t, s.CreateSession(t.Context(), storetest.Session("ses_1")))
	title := func(of string) func(*lathe.Session) error {
		return func(s *lathe.Session) error { s.Title += of; return nil }
	}
	err := paused.Batch(t.Context(), func(tx store.Tx) error {
		if _, err := tx.UpdateSession("ses_1", title("paused")); err != nil {
			return err
		}
		_, err := s.UpdateSession(t.Context(), "ses_1", title("other")) // waits for the row
		return err
	})
	if !errors.Is(err, store.ErrAway) {
		t.Errorf("the paused one: %v", err)
	}
	ses, err := s.Session(t.Context(), "ses_1")
	if err != nil || !strings.HasSuffix(ses.Title, "other") || strings.Contains(ses.Title, "paused") {
		t.Errorf("the title is %q, %v", ses.Title, err)
	}
}
