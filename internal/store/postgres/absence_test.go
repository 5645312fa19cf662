package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// After a time in which nobody reached the database, the first server that is back takes nothing
// from others that are not: neither their sessions nor their work. Who was gone before, or does not
// come back, is gone.
func TestTheOthersMayComeBack(t *testing.T) {
	url := pgtest.Schema(t)
	const ses = lathe.SessionID("ses_1")
	ctx := t.Context()
	first, s := worker(t, postgres.Options{URL: url, Life: time.Minute}, 1, "/a")
	other, far := worker(t, postgres.Options{URL: url, Life: time.Hour}, 1, "/a")
	must(t, far.CreateSession(ctx, storetest.Session(string(ses))))
	_, err := far.Acquire(ctx, ses, other.Self())
	must(t, err)
	work := add(t, far, store.Work{Session: "ses_2", Directory: "/a", Root: "/a"})
	if _, taken := sessions(t, far, 1, nil, nil); len(taken) != 1 {
		t.Fatal("its work was not taken")
	}
	must(t, other.Forget(ctx)) // for a minute
	gone := func(when string, want bool) {
		t.Helper()
		abandoned, err := s.Journal.Abandoned(ctx)
		must(t, err)
		_, held, err := s.Holder(ctx, ses)
		must(t, err)
		if held == want || slices.Contains(abandoned, ses) != want {
			t.Errorf("%s: held %v, abandoned %v, want it gone: %v", when, held, abandoned, want)
		}
	}

	gone("without an absence", true)
	first.Absent(30 * time.Second)
	gone("before the absence", true)
	first.Back()
	first.Absent(2 * time.Minute)
	gone("since the absence", false)
	if _, err := s.Acquire(ctx, ses, first.Self()); !errors.Is(err, store.ErrBusy) {
		t.Errorf("its session was taken: %v", err)
	}
	if _, err := s.Recover(ctx, ses, first.Self()); !errors.Is(err, store.ErrBusy) {
		t.Errorf("its session was closed: %v", err)
	}
	if _, taken := sessions(t, s, 1, nil, nil); len(taken) > 0 {
		t.Errorf("its work was taken: %v", taken)
	}

	first.Absent(7 * time.Second) // it was back for a moment
	gone("since two absences", false)

	first.Back()
	gone("when all had the time to come back", true)
	if _, taken := sessions(t, s, 1, nil, nil); !cmp.Equal(taken, []int64{work}) {
		t.Errorf("taken: %v, want %d", taken, work)
	}
	if _, err := s.Recover(ctx, ses, first.Self()); err != nil {
		t.Errorf("its session was not closed: %v", err)
	}
}

// Patient calls wait for a database that is away for longer than others do, who are told meanwhile
// that it is. They end when nobody waits for them any more, and when it stays away.
func TestPatientCalls(t *testing.T) {
	server := pgtest.Start(t)
	_, s := open(t, postgres.Options{URL: server.URL(), Wait: 50 * time.Millisecond, Patience: time.Hour})
	_, hasty := open(t, postgres.Options{URL: server.URL(), Wait: 50 * time.Millisecond, Patience: 200 * time.Millisecond})
	must(t, s.CreateSession(t.Context(), storetest.Session("ses_before")))
	must(t, hasty.CreateSession(t.Context(), storetest.Session("ses_too")))
	server.Stop()

	stopped, stop := context.WithCancel(t.Context())
	calls := map[string]func() error{
		"write":   func() error { return s.CreateSession(store.Patient(t.Context()), storetest.Session("ses_after")) },
		"read":    func() error { _, err := s.Session(store.Patient(t.Context()), "ses_before"); return err },
		"history": func() error { _, err := s.TurnTail(store.Patient(t.Context()), "ses_before"); return err },
	}
	done := make(chan error, len(calls))
	for name, call := range calls {
		go func() {
			err := call()
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			done <- err
		}()
	}
	ended := make(chan error)
	go func() {
		ended <- s.CreateSession(context.WithoutCancel(store.Patient(stopped)), storetest.Session("ses_never"))
	}()
	for s.Trouble() == nil {
		time.Sleep(time.Millisecond)
	}
	if err := s.CreateSession(t.Context(), storetest.Session("ses_never")); !errors.Is(err, store.ErrAway) {
		t.Errorf("a call that is not patient: %v", err)
	}
	if err := hasty.CreateSession(store.Patient(t.Context()), storetest.Session("ses_never")); !errors.Is(err, store.ErrAway) {
		t.Errorf("a call whose patience is over: %v", err)
	}
	select {
	case err := <-done:
		t.Errorf("while it is away: %v", err)
	case err := <-ended:
		t.Errorf("a call that nobody has stopped yet: %v", err)
	default:
	}
	stop()
	if err := <-ended; !errors.Is(err, store.ErrAway) {
		t.Errorf("a call that was stopped: %v", err)
	}
	server.Restart(t)
	for range calls {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if err := s.Trouble(); err != nil {
		t.Errorf("trouble after it came back: %v", err)
	}
	if _, err := s.Session(t.Context(), "ses_after"); err != nil {
		t.Error(err)
	}
	if _, err := s.Session(t.Context(), "ses_never"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what failed: %v", err)
	}
}

// refusing is a connection that is lost with whatever says a word.
type refusing struct {
	net.Conn
	word []byte
}

func (c refusing) Write(b []byte) (int, error) {
	if bytes.Contains(b, c.word) {
		_ = c.Close()
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// A patient call that loses its connection each time ends, though the database answers others.
func TestPatienceIsBounded(t *testing.T) {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return refusing{conn, []byte("ses_never")}, err
	}
	_, s := open(t, postgres.Options{URL: pgtest.Schema(t), Dial: dial, Wait: 50 * time.Millisecond, Patience: 200 * time.Millisecond})
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_ = s.Probe(ctx)
		}
	}()
	if err := s.CreateSession(store.Patient(t.Context()), storetest.Session("ses_never")); !errors.Is(err, store.ErrAway) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Session(store.Patient(t.Context()), "ses_never"); !errors.Is(err, store.ErrAway) {
		t.Errorf("a read: %v", err)
	}
	if _, err := s.TurnTail(store.Patient(t.Context()), "ses_never"); !errors.Is(err, store.ErrAway) {
		t.Errorf("a snapshot: %v", err)
	}
	end()
	<-done
}

// What a turn reads is read again wherever the connection is lost.
func TestPatientReadsOverLostConnections(t *testing.T) {
	url := pgtest.Schema(t)
	_, sound := open(t, postgres.Options{URL: url})
	must(t, sound.CreateSession(t.Context(), storetest.Session("ses_1")))
	must(t, sound.AddMessage(t.Context(), &lathe.Message{ID: "msg_1", SessionID: "ses_1", Info: &lathe.User{}}))
	ctx := store.Patient(t.Context())
	for how, part := range parts {
		cut := &cutter{part: part}
		_, s := open(t, postgres.Options{URL: url, Dial: cut.dial})
		for name, read := range map[string]func() (int, error){
			"tail":    func() (int, error) { all, err := s.TurnTail(ctx, "ses_1"); return len(all), err },
			"message": func() (int, error) { m, err := s.Message(ctx, "ses_1", "msg_1"); return int(m.Seq), err },
			"messages": func() (n int, err error) {
				for _, err = range s.Messages(ctx, "ses_1", store.MessageFilter{}) {
					n++
				}
				return n, err
			},
		} {
			for at, lost := int64(1), true; lost; at++ {
				cut.left.Store(at)
				n, err := read()
				lost = cut.left.Swap(0) <= 0
				if n != 1 || err != nil {
					t.Errorf("%s, lost at message %d, of which %s arrives: %d, %v", name, at, how, n, err)
				}
			}
		}
	}
}
