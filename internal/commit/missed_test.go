package commit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/commit"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
)

func statement(t *testing.T, url, query string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

// A server that was away while events were forgotten tells that it has missed some, before
// what came after them, and nobody resumes from before that.
func TestMissedEventsAreTold(t *testing.T) {
	url := pgtest.Schema(t)
	a := newNode(t, url)
	db, err := postgres.Open(t.Context(), postgres.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	b := bus.New(bus.Options{})
	late := &node{Writer: commit.New(db.Store(), b), kept: db.Store(), sub: b.Subscribe(t.Context(), bus.Filter{}, bus.Limits{})}
	t.Cleanup(func() { b.Close(); db.Close() })
	// It reads once, and is away from then on.
	ctx, away := context.WithCancel(t.Context())
	create(t, a, "ses_1")
	first := b.Subscribe(t.Context(), bus.Filter{}, bus.Limits{})
	relayed := make(chan struct{})
	go func() { late.Relay(ctx); close(relayed) }()
	for heard := false; !heard; { // it begins at any time
		if err := rename(t.Context(), a, "ses_1", "before"); err != nil {
			t.Fatal(err)
		}
		wait, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := first.Next(wait)
		heard = err == nil
		cancel()
	}
	away()
	<-relayed
	seq, number := b.At()
	for _, title := range []string{"missed", "missed too", "kept"} {
		if err := rename(t.Context(), a, "ses_1", title); err != nil {
			t.Fatal(err)
		}
	}
	statement(t, url, `DELETE FROM event WHERE n < (SELECT max(n) FROM event)`)
	if _, err := late.kept.Journal.Between(t.Context(), number, number+3); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what is forgotten is read: %v", err)
	}
	if err := rename(t.Context(), late, "ses_1", "mine"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(got) == 0 || got[len(got)-1] != "updated ses_1 mine" {
		got = append(got, late.next(t))
	}
	if n := len(got); n < 3 || cmp.Diff([]string{"lathe.EventsMissed", "updated ses_1 kept", "updated ses_1 mine"}, got[n-3:]) != "" {
		t.Errorf("heard %q", got)
	}
	if _, err := b.SubscribeFrom(t.Context(), seq, bus.Filter{}, bus.Limits{}); !errors.Is(err, bus.ErrGone) {
		t.Errorf("resumed over a gap: %v", err)
	}
	// Who was there all the time has missed nothing, though everything old was removed.
	a.until(t, "updated ses_1 mine")
	statement(t, url, `DELETE FROM event WHERE n < (SELECT max(n) FROM event)`)
	if err := rename(t.Context(), a, "ses_1", "more"); err != nil {
		t.Fatal(err)
	}
	if got := a.until(t, "updated ses_1 more"); len(got) != 0 {
		t.Errorf("heard %q", got)
	}
}

// Every event has the same number on each server, also those that are told without being
// stored, in the order in which they are published.
func TestNumbersAreTheSameEverywhere(t *testing.T) {
	url := pgtest.Schema(t)
	a, b := newNode(t, url), newNode(t, url)
	ready(t, a, b)
	ready(t, b, a)
	create(t, a, "ses_1")
	a.until(t, "created ses_1 in /work")
	b.until(t, "created ses_1 in /work")
	numbers := func(n *node) (out []int64) {
		for {
			env, err := n.sub.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, local := env.Event.(lathe.FileEdited); local {
				if env.Number != 0 {
					t.Errorf("a file of one machine has number %d", env.Number)
				}
				continue
			}
			out = append(out, env.Number)
			if u, ok := env.Event.(lathe.SessionUpdated); ok && u.Session.Title == "end" {
				return out
			}
		}
	}
	for i := range 10 {
		one, other := a, b
		if i%2 == 1 {
			one, other = b, a
		}
		one.Tell("/work", lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
		one.Tell("/work", lathe.FileEdited{File: "here"})
		if err := rename(t.Context(), other, "ses_1", "name"); err != nil {
			t.Fatal(err)
		}
	}
	if err := rename(t.Context(), a, "ses_1", "end"); err != nil {
		t.Fatal(err)
	}
	first, second := numbers(a), numbers(b)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("(-a +b):\n%s", diff)
	}
	if len(first) != 21 {
		t.Errorf("%d events: %v", len(first), first)
	}
	for i, n := range first {
		if n == 0 || i > 0 && n <= first[i-1] {
			t.Errorf("numbers %v", first)
			break
		}
	}
}
