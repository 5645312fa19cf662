package session

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/commit"
	"lathe/internal/store"
	"lathe/internal/store/sqlite"
)

// Several servers close what one that is gone had left open. The last of them may be so late that
// a new turn runs: then it does not say that the session is idle.
func TestLateWatchTellsNothing(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	kept, b := db.Store(), bus.New(bus.Options{})
	w := NewWatch(&Service{opts: Options{Store: kept, Writer: commit.New(kept, b), Owner: store.Owner{ID: "late"}}})
	err = w.opts.Writer.Commit(t.Context(), func(tx *commit.Tx) error { return tx.CreateSession(lathe.Session{ID: "ses_1"}) })
	if err != nil {
		t.Fatal(err)
	}
	sub := b.Subscribe(t.Context(), bus.Filter{}, bus.Limits{})
	defer sub.Close()
	lease, err := kept.Acquire(t.Context(), "ses_1", sqlite.Self())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.tellIdle(t.Context(), "ses_1", "/d"); !errors.Is(err, store.ErrBusy) {
		t.Errorf("while a turn runs: %v", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.tellIdle(t.Context(), "ses_1", "/d", lathe.Notice{Title: "closed"}); err != nil {
		t.Fatal(err)
	}
	b.Publish("/d", lathe.Notice{Title: "end"})
	var told []lathe.Event
	for env, err := range sub.All() {
		if err != nil {
			t.Fatal(err)
		}
		if told = append(told, env.Event); env.Event == (lathe.Notice{Title: "end"}) {
			break
		}
	}
	want := []lathe.Event{lathe.Notice{Title: "closed"}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}}, lathe.Notice{Title: "end"}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
