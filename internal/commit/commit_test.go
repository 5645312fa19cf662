package commit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/commit"
	"lathe/internal/store"
	"lathe/internal/store/sqlite"
)

type rig struct {
	*commit.Writer
	store *store.Store
	bus   *bus.Bus
	fault error // fails the next commits
}

func open(t *testing.T) *rig {
	t.Helper()
	r := &rig{bus: bus.New(bus.Options{})}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Fault: func() error { return r.fault }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	r.store = db.Store()
	r.Writer = commit.New(r.store, r.bus)
	err = r.Commit(t.Context(), func(tx *commit.Tx) error { return tx.CreateSession(lathe.Session{ID: "ses_1"}) })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// told returns the events up to now.
func told(t *testing.T, s *bus.Subscription, n int) (events []lathe.Event) {
	t.Helper()
	for ev, err := range s.All() {
		if err != nil {
			t.Fatal(err)
		}
		if events = append(events, ev.Event); len(events) == n {
			break
		}
	}
	return events
}

func TestWhatFailsIsNotTold(t *testing.T) {
	r := open(t)
	sub := r.bus.Subscribe(t.Context(), bus.Filter{}, bus.Limits{})
	bad := errors.New("no")
	then := false
	for name, try := range map[string]func() error{
		"change": func() error { return bad },
		"commit": func() error { r.fault = bad; return nil },
	} {
		err := r.Commit(t.Context(), func(tx *commit.Tx) error {
			tx.Tell("/d", lathe.SessionUpdated{Session: lathe.Session{ID: "ses_1", Title: name}})
			tx.Then(func() { then = true })
			if _, err := tx.UpdateSession("ses_1", func(s *lathe.Session) error { s.Title = name; return nil }); err != nil {
				return err
			}
			return try()
		})
		if !errors.Is(err, bad) || then {
			t.Errorf("%s: %v, then %v", name, err, then)
		}
		r.fault = nil
	}
	r.Tell("/d", lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	if diff := cmp.Diff([]lathe.Event{lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}}}, told(t, sub, 1)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if s, err := r.store.Session(t.Context(), "ses_1"); err != nil || s.Title != "" {
		t.Errorf("stored %q, %v", s.Title, err)
	}
}

// Events come in the order of the transactions, however many commit at once, and what
// is told is stored by then.
func TestOrder(t *testing.T) {
	r := open(t)
	const writers, each = 8, 25
	sub := r.bus.Subscribe(t.Context(), bus.Filter{}, bus.Limits{Events: 2 * writers * each})
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				taken := false
				err := r.Commit(t.Context(), func(tx *commit.Tx) error {
					s, err := tx.UpdateSession("ses_1", func(s *lathe.Session) error { s.Cost++; return nil })
					tx.Then(func() { taken = true })
					tx.Tell("/d", lathe.SessionUpdated{Session: s})
					return err
				})
				if err != nil || !taken {
					t.Errorf("%v, taken over %v", err, taken)
				}
			}
		})
	}
	for i, ev := range told(t, sub, writers*each) {
		s := ev.(lathe.SessionUpdated).Session
		if s.Cost != lathe.Money(i+1) {
			t.Fatalf("event %d tells of change %d", i+1, s.Cost)
		}
		if now, err := r.store.Session(t.Context(), "ses_1"); err != nil || now.Cost < s.Cost {
			t.Fatalf("change %d was told, %d is stored: %v", s.Cost, now.Cost, err)
		}
	}
	wg.Wait()
}

func TestCancelledWhileWaiting(t *testing.T) {
	r := open(t)
	begun, end := make(chan struct{}), make(chan struct{})
	first := make(chan error)
	go func() {
		first <- r.Commit(t.Context(), func(*commit.Tx) error { close(begun); <-end; return nil })
	}()
	<-begun
	why := fmt.Errorf("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := r.Commit(ctx, func(*commit.Tx) error { t.Error("it ran"); return nil }); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
	close(end)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// ill is a store that cannot be reached.
type ill struct{ store.Health }

func (ill) Trouble() error { return store.ErrAway }

// While a commit that is patient waits for a store that is away, others are refused rather than
// kept waiting. Others that are patient wait.
func TestCommitWhileAnotherWaitsForTheStore(t *testing.T) {
	r := open(t)
	st := *r.store
	st.Health = ill{st.Health}
	w := commit.New(&st, r.bus)
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- w.Commit(t.Context(), func(*commit.Tx) error { close(begun); <-end; return nil })
	}()
	<-begun
	err := w.Commit(t.Context(), func(*commit.Tx) error { t.Error("it ran"); return nil })
	if !errors.Is(err, store.ErrAway) {
		t.Errorf("one that is not patient: %v", err)
	}
	go func() { done <- w.Commit(store.Patient(t.Context()), func(*commit.Tx) error { return nil }) }()
	select {
	case err := <-done:
		t.Errorf("one that is patient ended before its turn: %v", err)
	case <-time.After(300 * time.Millisecond): // longer than it is looked for trouble
	}
	close(end)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
