package postgres_test

import (
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// What a step writes takes few messages to the database: each is one wait for it. Who holds the
// session needs one for a commit.
func TestMessagesOfACommit(t *testing.T) {
	var sent atomic.Int64
	db, s := open(t, postgres.Options{URL: pgtest.Schema(t), Dial: pgtest.Dialer(func() bool { sent.Add(1); return false }, false)})
	ctx := t.Context()
	must(t, s.CreateSession(ctx, storetest.Session("ses_1")))
	_, err := s.Acquire(ctx, "ses_1", db.Self())
	must(t, err)
	step := func(n string) (got map[string]int64) {
		got = map[string]int64{}
		count := func(name string, write func(tx store.Tx) error) {
			t.Helper()
			was := sent.Load()
			must(t, s.Batch(ctx, func(tx store.Tx) error {
				if err := write(tx); err != nil {
					return err
				}
				return tx.(store.Noter).Note(&store.Noted{Facts: []store.Fact{
					{Directory: "/p", Event: lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}},
					{Directory: "/p", Event: lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}}},
				}})
			}))
			got[name] = sent.Load() - was
		}
		m := &lathe.Message{ID: lathe.MessageID("msg_" + n), SessionID: "ses_1", Info: &lathe.Assistant{}}
		p := &lathe.Part{ID: lathe.PartID("prt_" + n), MessageID: m.ID, SessionID: "ses_1", Body: &lathe.ToolCall{Tool: "bash", State: &lathe.ToolRunning{Input: []byte(`{}`)}}}
		count("telling", func(store.Tx) error { return nil })
		count("a message", func(tx store.Tx) error { return tx.AddMessage(m) })
		count("its end", func(tx store.Tx) error { return tx.UpdateMessage(m) })
		count("a part", func(tx store.Tx) error { return tx.PutPart(p) })
		count("its change", func(tx store.Tx) error { return tx.PutPart(p) })
		count("a step's end", func(tx store.Tx) error {
			if _, err := tx.UpdateSession("ses_1", func(*lathe.Session) error { return nil }); err != nil {
				return err
			}
			if err := tx.SetValue("ses_1", "k", []byte("v")); err != nil {
				return err
			}
			if err := tx.PutPart(&lathe.Part{ID: p.ID + "b", MessageID: m.ID, SessionID: "ses_1", Body: &lathe.StepFinish{}}); err != nil {
				return err
			}
			return tx.UpdateMessage(m)
		})
		was := sent.Load()
		_, err := s.Session(ctx, "ses_1")
		must(t, err)
		got["reading the session"] = sent.Load() - was
		return got
	}
	step("1")
	step("2") // statements are prepared, and what was stored is known
	want := map[string]int64{
		"telling": 2, "a message": 1, "its end": 1, "a part": 1, "its change": 1, "a step's end": 1, "reading the session": 1,
	}
	if diff := cmp.Diff(want, step("3")); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// A commit whose answer is lost has told what it told: its facts have their numbers, and
// what others told before comes first.
func TestFactsOfACommitWhoseAnswerIsLost(t *testing.T) {
	url := pgtest.Schema(t)
	_, other := open(t, postgres.Options{URL: url})
	must(t, other.CreateSession(t.Context(), storetest.Session("ses_1")))
	fact := func(id lathe.SessionID) store.Fact {
		return store.Fact{Directory: "/p", Event: lathe.SessionStatus{SessionID: id, Status: lathe.Busy{}}}
	}
	note := func(s storetest.Store, facts ...store.Fact) *store.Noted {
		t.Helper()
		n := &store.Noted{Facts: facts}
		must(t, s.Batch(t.Context(), func(tx store.Tx) error { return tx.(store.Noter).Note(n) }))
		return n
	}
	for cut := int64(1); ; cut++ {
		var sent atomic.Int64
		sent.Store(1000)
		strike := func() bool { return sent.Add(1) == cut }
		_, s := open(t, postgres.Options{URL: url, Dial: pgtest.Dialer(strike, true)})
		note(s, fact("ses_1"))
		first := note(s, fact("ses_1")).Facts[0].Number // all statements are prepared
		elsewhere := note(other, fact("ses_other"))
		sent.Store(0)
		n := &store.Noted{Facts: []store.Fact{fact("ses_2"), fact("ses_3")}}
		err := s.Batch(t.Context(), func(tx store.Tx) error { return tx.(store.Noter).Note(n) })
		struck := sent.Load() >= cut
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		at := elsewhere.Facts[0].Number
		want := store.Noted{Facts: []store.Fact{fact("ses_2"), fact("ses_3")}, Before: elsewhere.Facts}
		want.Facts[0].Number, want.Facts[1].Number = n.Facts[0].Number, n.Facts[0].Number+1
		if diff := cmp.Diff(want, *n); diff != "" || first >= at || n.Facts[0].Number <= at {
			t.Errorf("cut at %d: %d, %d (-want +got):\n%s", cut, first, at, diff)
		}
		if !struck {
			if cut == 1 {
				t.Fatal("nothing was cut")
			}
			return
		}
	}
}
