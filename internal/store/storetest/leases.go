package storetest

import (
	"errors"
	"fmt"

	"lathe"
	"lathe/internal/store"
	"sync"
	"sync/atomic"
	"testing"
)

func testLeases(t *testing.T, u Under) {
	s, ctx := u.open(t), t.Context()
	ses := seed(t, s, "ses_a")
	if h, held, err := s.Holder(ctx, ses); held || err != nil {
		t.Errorf("held by %v, %v", h, err)
	}
	l, err := s.Acquire(ctx, ses, s.Self)
	must(t, err)
	_, err = s.Acquire(ctx, ses, s.Self)
	if e, ok := errors.AsType[*store.BusyError](err); !ok || e.Session != ses || e.Holder != (store.Holder{Owner: s.Self}) || !busy(err) {
		t.Errorf("second lease: %v", err)
	}
	h, held, err := s.Holder(ctx, ses)
	if !held || err != nil || h != (store.Holder{Owner: s.Self}) {
		t.Errorf("held by %+v, %v, %v", h, held, err)
	}
	if ok, err := l.Valid(ctx); !ok || err != nil {
		t.Errorf("valid: %v, %v", ok, err)
	}
	// Its owner may close what it left open; nobody else may.
	if _, err := s.Recover(ctx, ses, s.Self); err != nil {
		t.Errorf("recovery by the owner: %v", err)
	}
	must(t, l.Release(ctx))
	must(t, l.Release(ctx))
	if ok, err := l.Valid(ctx); ok || err != nil {
		t.Errorf("valid after its release: %v, %v", ok, err)
	}
	if _, err := s.Acquire(ctx, "ses_x", s.Self); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}

	other, end := u.Living(t)
	_, err = s.Acquire(ctx, ses, other)
	must(t, err)
	_, err = s.Acquire(ctx, ses, s.Self)
	if _, rerr := s.Recover(ctx, ses, s.Self); !busy(err) || !busy(rerr) {
		t.Errorf("another lives: acquire %v, recover %v", err, rerr)
	}
	end()
	if h, held, err := s.Holder(ctx, ses); held || err != nil {
		t.Errorf("%+v is gone and holds it: %v", h, err)
	}
	_, rerr := s.Recover(ctx, ses, s.Self)
	if _, err = s.Acquire(ctx, ses, s.Self); err != nil || rerr != nil {
		t.Errorf("the owner is gone: acquire %v, recover %v", err, rerr)
	}
	if u.Unseen == nil {
		return
	}
	far := u.Unseen()
	must(t, s.BreakLease(ctx, ses))
	_, err = s.Acquire(ctx, ses, far)
	must(t, err)
	if h, held, err := s.Holder(ctx, ses); !held || err != nil || h != (store.Holder{Owner: far, Unseen: true}) {
		t.Errorf("far away: %+v, %v, %v", h, held, err)
	}
	if _, err := s.Acquire(ctx, ses, s.Self); !busy(err) {
		t.Errorf("taken from one that nobody can look at: %v", err)
	}
	must(t, s.BreakLease(ctx, ses))
	if _, err := s.Acquire(ctx, ses, s.Self); err != nil {
		t.Errorf("after a person said so: %v", err)
	}
}

// testLeaseIsLost takes a lease away from a process that goes on: it notices, and does
// no harm to the new holder.
func testLeaseIsLost(t *testing.T, u Under) {
	at, ctx := u.at(t), t.Context()
	s, other := at.open(t), at.open(t)
	ses := seed(t, s, "ses_a")
	lost, err := s.Acquire(ctx, ses, s.Self)
	must(t, err)
	must(t, other.BreakLease(ctx, ses))
	mine, err := other.Acquire(ctx, ses, other.Self)
	must(t, err)
	if ok, err := lost.Valid(ctx); ok || err != nil {
		t.Errorf("the lost one is valid: %v, %v", ok, err)
	}
	must(t, lost.Release(ctx))
	if ok, err := mine.Valid(ctx); !ok || err != nil {
		t.Errorf("the release of the lost one took the new one: %v, %v", ok, err)
	}
	// It goes with its session.
	if _, err := s.DeleteSession(ctx, ses); err != nil {
		t.Fatal(err)
	}
	if ok, err := mine.Valid(ctx); ok || err != nil {
		t.Errorf("valid without a session: %v, %v", ok, err)
	}
	must(t, mine.Release(ctx))
}

// testOneOwnerAtATime lets many try at once, in two processes.
func testOneOwnerAtATime(t *testing.T, u Under) {
	at, ctx := u.at(t), t.Context()
	stores := []*Opened{at.open(t), at.open(t)}
	ses := seed(t, stores[0], "ses_a")
	var holds, taken atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s := stores[i%2]
			for range 20 {
				l, err := s.Acquire(ctx, ses, s.Self)
				switch {
				case busy(err):
					continue
				case err != nil:
					t.Error(err)
					return
				}
				if n := holds.Add(1); n != 1 {
					t.Errorf("%d hold it", n)
				}
				taken.Add(1)
				holds.Add(-1)
				if err := l.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if taken.Load() == 0 {
		t.Error("nobody got it")
	}
}

// testOrder adds from two processes at once: numbers have no gaps and no
// duplicates, rows are read in their order, and everything that was reported is
// there.
func testOrder(t *testing.T, u Under) {
	at, ctx := u.at(t), t.Context()
	stores := []*Opened{at.open(t), at.open(t)}
	ses := seed(t, stores[0], "ses_a")
	must(t, stores[0].AddMessage(ctx, Assistant(ses, "msg_0", lathe.Assistant{})))
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			s := stores[w%2]
			for i := range each {
				name := fmt.Sprintf("%d_%d", w, i)
				m := UserMessage(ses, "msg_"+name, Text("prt_"+name, name))
				if err := s.AddMessage(ctx, m); err != nil {
					t.Error(err)
					return
				}
				p := Text("prt_all_"+name, name)
				p.SessionID, p.MessageID = ses, "msg_0"
				if err := s.PutPart(ctx, &p); err != nil {
					t.Error(err)
					return
				}
				got, err := stores[1-w%2].Message(ctx, ses, m.ID)
				if err != nil || got.Seq != m.Seq {
					t.Errorf("told as number %d, the other process has %d, %v", m.Seq, got.Seq, err)
				}
			}
		})
	}
	wg.Wait()
	msgs, err := stores[1].Tail(ctx, ses)
	must(t, err)
	equal(t, 1+writers*each, len(msgs))
	last := map[string]int{}
	for i, m := range msgs {
		if m.Seq != int64(i+1) {
			t.Fatalf("message %d has the number %d", i, m.Seq)
		}
		var w string
		var n int
		if i > 0 {
			w = string(m.ID[4])
			fmt.Sscanf(string(m.ID[6:]), "%d", &n)
			if n != last[w] {
				t.Errorf("%s comes when number %d of its writer is due", m.ID, last[w])
			}
			last[w] = n + 1
		}
	}
	for i, p := range msgs[0].Parts {
		if p.Seq != int64(i+1) {
			t.Fatalf("part %d has the number %d", i, p.Seq)
		}
	}
	equal(t, writers*each, len(msgs[0].Parts))
}
