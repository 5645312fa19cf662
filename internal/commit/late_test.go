package commit_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
)

// What a server tells while it cannot reach the database is told again, with a number that is
// the same everywhere, when it can: the newest of what a session is doing, and nothing of a
// session that another server works in by then.
func TestWhatHadNoNumberIsToldAgain(t *testing.T) {
	url := pgtest.Schema(t)
	var away atomic.Bool
	a := openNode(t, postgres.Options{URL: url, Wait: 50 * time.Millisecond, Dial: pgtest.Dialer(away.Load, false)})
	b := newNode(t, url)
	ready(t, a, b)
	ready(t, b, a)
	for _, id := range []string{"ses_1", "ses_2"} {
		create(t, a, id)
	}
	a.until(t, "created ses_2 in /work")
	b.until(t, "created ses_2 in /work")

	away.Store(true)
	status := func(id lathe.SessionID, st lathe.Status) {
		a.Tell("/work", lathe.SessionStatus{SessionID: id, Status: st})
	}
	status("ses_1", lathe.Busy{})
	status("ses_2", lathe.Idle{})
	status("ses_1", lathe.Idle{})
	for _, want := range []string{"status ses_1 lathe.Busy", "status ses_2 lathe.Idle", "status ses_1 lathe.Idle"} {
		if got, number := a.numbered(t); got != want || number != 0 {
			t.Errorf("told %s with number %d, want %s without", got, number, want)
		}
	}
	if _, err := b.kept.Acquire(t.Context(), "ses_2", b.self); err != nil {
		t.Fatal(err)
	}
	away.Store(false)

	type told struct {
		text   string
		number int64
	}
	var here, there told
	here.text, here.number = a.numbered(t)
	there.text, there.number = b.numbered(t)
	if here.text != "status ses_1 lathe.Idle" || here.number == 0 {
		t.Errorf("told again: %+v", here)
	}
	if diff := cmp.Diff(here, there, cmp.AllowUnexported(told{})); diff != "" {
		t.Errorf("(-here +there):\n%s", diff)
	}
	sub, _, err := a.bus.SubscribeAfter(t.Context(), here.number, bus.Filter{}, bus.Limits{})
	if err != nil {
		t.Fatalf("resumed after what was told again: %v", err)
	}
	sub.Close()
	// Nothing else of it comes.
	if err := rename(t.Context(), a, "ses_1", "the end"); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]*node{"here": a, "there": b} {
		if got := n.until(t, "updated ses_1 the end"); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What a transaction tells of a session takes the place of what waits about it.
func TestWhatWaitsIsNotToldOverSomethingNewer(t *testing.T) {
	url := pgtest.Schema(t)
	var away atomic.Bool
	a := openNode(t, postgres.Options{URL: url, Wait: 50 * time.Millisecond, Dial: pgtest.Dialer(away.Load, false)})
	b := newNode(t, url)
	ready(t, a, b)
	create(t, a, "ses_1")
	b.until(t, "created ses_1 in /work")
	away.Store(true)
	a.Tell("/work", lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	away.Store(false)
	probe := func() error { return rename(t.Context(), a, "ses_1", "it can be written") }
	_ = probe() // whichever comes first tells what waits
	a.Tell("/work", lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	if err := rename(t.Context(), a, "ses_1", "the end"); err != nil {
		t.Fatal(err)
	}
	last := ""
	for _, got := range b.until(t, "updated ses_1 the end") {
		if got == "status ses_1 lathe.Busy" || got == "status ses_1 lathe.Idle" {
			last = got
		}
	}
	if last != "status ses_1 lathe.Busy" {
		t.Errorf("it is busy, and told last was %q", last)
	}
}
