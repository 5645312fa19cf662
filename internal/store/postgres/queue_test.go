package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// worker opens a server that offers directories.
func worker(t *testing.T, o postgres.Options, turns int, directories ...string) (*postgres.DB, storetest.Store) {
	t.Helper()
	db, s := open(t, o)
	must(t, s.Crew.Offer(t.Context(), directories, turns, nil))
	return db, s
}

func add(t *testing.T, s storetest.Store, w store.Work) int64 {
	t.Helper()
	if w.Body == nil {
		w.Body = []byte("do")
	}
	n, err := s.Queue.Add(t.Context(), w)
	must(t, err)
	return n
}

// sessions are those of taken work, in its order.
func sessions(t *testing.T, s storetest.Store, free int, doing []int64, limits map[string]int) (ids []string, numbers []int64) {
	t.Helper()
	all, err := s.Crew.Take(t.Context(), free, doing, limits)
	must(t, err)
	for _, w := range all {
		ids, numbers = append(ids, string(w.Session)), append(numbers, w.N)
	}
	return ids, numbers
}

// What an offered directory is a clone of is known as long as it is offered.
func TestOfferedClones(t *testing.T) {
	url := pgtest.Schema(t)
	_, server := open(t, postgres.Options{URL: url})
	_, a := open(t, postgres.Options{URL: url, Name: "a"})
	remotes := map[string]string{"/clones/app": "https://git.example.com/app"}
	must(t, a.Crew.Offer(t.Context(), []string{"/clones/app", "/src/lib"}, 2, remotes))
	worker(t, postgres.Options{URL: url, Name: "b"}, 2, "/src/lib")
	state, err := server.Queue.State(t.Context())
	must(t, err)
	var got []map[string]string
	for _, w := range state.Workers {
		got = append(got, w.Remotes)
	}
	if diff := cmp.Diff([]map[string]string{remotes, nil}, got); diff != "" {
		t.Errorf("remotes (-want +got):\n%s", diff)
	}
	if _, offers, err := server.Queue.Offers(t.Context(), "/clones/app/cmd"); err != nil || len(offers) != 1 || offers[0].Remotes["/clones/app"] == "" {
		t.Errorf("offered by %+v, %v", offers, err)
	}
}

// Work is taken once, by a worker that has its directory, and its answer comes back.
func TestWorkIsDoneWhereTheFilesAre(t *testing.T) {
	url := pgtest.Schema(t)
	_, server := open(t, postgres.Options{URL: url})
	_, a := worker(t, postgres.Options{URL: url, Name: "a"}, 2, "/src/app")
	_, b := worker(t, postgres.Options{URL: url, Name: "b"}, 2, "/src/app", "/src/lib/")
	root, workers, err := server.Queue.Offers(t.Context(), "/src/app/cmd")
	must(t, err)
	if root != "/src/app" || len(workers) != 2 || !workers[0].Living {
		t.Errorf("offered by %+v as %q", workers, root)
	}
	if _, none, err := server.Queue.Offers(t.Context(), "/src/apple"); err != nil || len(none) != 0 {
		t.Errorf("offered by %+v, %v", none, err)
	}
	n := add(t, server, store.Work{Session: "ses_1", Directory: "/src/lib/x", Root: "/src/lib"})
	if got, _ := sessions(t, a, 2, nil, nil); got != nil {
		t.Errorf("a worker without the directory takes %q", got)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		answer, err := server.Queue.Answer(t.Context(), n)
		if err != nil || string(answer) != "did" {
			t.Errorf("answered %q, %v", answer, err)
		}
	})
	if got, _ := sessions(t, b, 2, nil, nil); !cmp.Equal(got, []string{"ses_1"}) {
		t.Errorf("taken: %q", got)
	}
	if got, _ := sessions(t, b, 2, []int64{n}, nil); got != nil {
		t.Errorf("taken twice: %q", got)
	}
	must(t, b.Crew.Done(t.Context(), n, []byte("did"), false))
	wg.Wait()
	if open, err := server.Queue.Open(t.Context(), "ses_1"); !open || err != nil {
		t.Errorf("answered work is open: %t, %v", open, err)
	}
	must(t, b.Crew.Done(t.Context(), n, nil, true))
	if open, err := server.Queue.Open(t.Context(), "ses_1"); open || err != nil {
		t.Errorf("ended work is open: %t, %v", open, err)
	}
}

// Nobody waits behind another person's hundred prompts, nor behind a busy directory; what
// one session is asked is done in order, and what steers it is taken at once.
func TestWorkIsFair(t *testing.T) {
	url := pgtest.Schema(t)
	_, s := worker(t, postgres.Options{URL: url}, 1, "/a", "/b")
	for i := range 5 {
		add(t, s, store.Work{Session: lathe.SessionID(fmt.Sprint("ses_ann", i)), Directory: "/a", Root: "/a", Person: "ann"})
	}
	add(t, s, store.Work{Session: "ses_ann0", Directory: "/a", Root: "/a", Person: "ann"})
	add(t, s, store.Work{Session: "ses_bob", Directory: "/a", Root: "/a", Person: "bob"})
	add(t, s, store.Work{Session: "ses_annb", Directory: "/b", Root: "/b", Person: "ann"})
	var order []string
	var doing []int64
	for range 8 {
		got, numbers := sessions(t, s, 1, doing, nil)
		order, doing = append(order, got...), numbers
		for _, n := range numbers {
			must(t, s.Crew.Done(t.Context(), n, []byte("did"), true))
		}
	}
	want := []string{"ses_ann0", "ses_bob", "ses_annb", "ses_ann1", "ses_ann2", "ses_ann3", "ses_ann4", "ses_ann0"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
	first := add(t, s, store.Work{Session: "ses_1", Directory: "/a", Root: "/a"})
	sessions(t, s, 1, nil, nil)
	steers := add(t, s, store.Work{Session: "ses_1", Directory: "/a", Root: "/a"})
	if _, got := sessions(t, s, 0, []int64{first}, nil); !cmp.Equal(got, []int64{steers}) {
		t.Errorf("taken with all hands full: %d, want %d", got, steers)
	}
}

// What a worker took and does no more, because its end could not be stored, is taken again, by itself
// too when it does nothing else.
func TestWorkWhoseEndWasLost(t *testing.T) {
	_, s := worker(t, postgres.Options{URL: pgtest.Schema(t)}, 1, "/a")
	n := add(t, s, store.Work{Session: "ses_1", Directory: "/a", Root: "/a"})
	for range 2 {
		if _, got := sessions(t, s, 1, nil, nil); !cmp.Equal(got, []int64{n}) {
			t.Errorf("taken: %d, want %d", got, n)
		}
	}
	if _, got := sessions(t, s, 1, []int64{n}, nil); got != nil {
		t.Errorf("taken while it is done: %d", got)
	}
}

// A limit of a directory holds for all workers together, however many choose at once.
func TestWorkWithinLimits(t *testing.T) {
	url := pgtest.Schema(t)
	limits := map[string]int{"/a": 3}
	var all []storetest.Store
	for range 4 {
		_, s := worker(t, postgres.Options{URL: url}, 5, "/a", "/b")
		all = append(all, s)
	}
	for i := range 10 {
		add(t, all[0], store.Work{Session: lathe.SessionID(fmt.Sprint("ses_a", i)), Directory: "/a", Root: "/a"})
		add(t, all[0], store.Work{Session: lathe.SessionID(fmt.Sprint("ses_b", i)), Directory: "/b", Root: "/b"})
	}
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() {
			if _, err := s.Crew.Take(t.Context(), 5, nil, limits); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	state, err := all[0].Queue.State(t.Context())
	must(t, err)
	running := map[string]int{}
	for _, w := range state.Open {
		if w.By.ID != "" {
			running[w.Root]++
		}
	}
	if diff := cmp.Diff(map[string]int{"/a": 3, "/b": 10}, running); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
}

// What a worker had that is gone is done by another, but not what must not be repeated, and
// not for ever. The worker that comes back has lost it.
func TestWorkOfAWorkerThatIsGone(t *testing.T) {
	url := pgtest.Schema(t)
	const life = 400 * time.Millisecond
	db, gone := worker(t, postgres.Options{URL: url, Life: life}, 5, "/a")
	again := add(t, gone, store.Work{Session: "ses_again", Directory: "/a", Root: "/a"})
	once := add(t, gone, store.Work{Session: "ses_once", Directory: "/a", Root: "/a", Once: true})
	held := add(t, gone, store.Work{Session: "ses_held", Directory: "/a", Root: "/a"})
	must(t, gone.CreateSession(t.Context(), storetest.Session("ses_held")))
	_, err := gone.Acquire(t.Context(), "ses_held", db.Self())
	must(t, err)
	sessions(t, gone, 5, nil, nil)
	db.Silence()
	_, next := worker(t, postgres.Options{URL: url}, 5, "/a")
	waitGone(t, next, db.Self())
	if _, got := sessions(t, next, 5, nil, nil); !cmp.Equal(got, []int64{again}) {
		t.Errorf("taken: %d, want %d", got, again)
	}
	if _, err := next.Queue.Answer(t.Context(), once); !errors.Is(err, store.ErrAway) {
		t.Errorf("what must not be repeated is answered %v", err)
	}
	if err := gone.Crew.Done(t.Context(), again, []byte("late"), true); !errors.Is(err, store.ErrLost) {
		t.Errorf("the old worker's answer: %v", err)
	}
	_, err = next.Recover(t.Context(), "ses_held", store.Owner{ID: "next"})
	must(t, err)
	if _, got := sessions(t, next, 5, []int64{again}, nil); !cmp.Equal(got, []int64{held}) {
		t.Errorf("taken once the session is closed: %d, want %d", got, held)
	}
	// That it was given work it knows nothing of counts as a worker that was gone.
	for range 2 {
		sessions(t, next, 5, []int64{again}, nil)
	}
	if _, err := next.Queue.Answer(t.Context(), held); !errors.Is(err, store.ErrAway) {
		t.Errorf("what nobody survives is answered %v", err)
	}
}

// A worker that was not heard of while another began to offer the same is a worker again once it
// looks for work; one that has stopped is not.
func TestOfferOfAWorkerThatCameBack(t *testing.T) {
	url := pgtest.Schema(t)
	db, a := open(t, postgres.Options{URL: url, Life: time.Hour})
	remotes := map[string]string{"/clones/app": "git@example.org:app.git"}
	must(t, a.Crew.Offer(t.Context(), []string{"/clones/app", "/a"}, 2, remotes))
	mine := func() (w store.Worker) {
		state, err := a.Queue.State(t.Context())
		must(t, err)
		for _, o := range state.Workers {
			if o.ID == db.Self().ID {
				w = o
			}
		}
		return w
	}
	before := mine()
	for _, other := range [][]string{{"/a"}, {"/a", "/clones/app"}} {
		must(t, db.Forget(t.Context()))
		worker(t, postgres.Options{URL: url}, 1, other...)
		if got := mine().Directories; len(got)+len(other) != 2 {
			t.Fatalf("another offers %q, and %q is left of what the first does", other, got)
		}
		n := add(t, a, store.Work{Session: "ses_" + lathe.SessionID(fmt.Sprint(len(other))), Directory: "/a", Root: "/a"})
		if _, got := sessions(t, a, 1, nil, nil); !cmp.Equal(got, []int64{n}) {
			t.Errorf("taken: %d, want %d", got, n)
		}
		must(t, a.Crew.Done(t.Context(), n, nil, true))
		after := mine()
		if after.Since = before.Since; !cmp.Equal(after, before) {
			t.Errorf("it offers %+v, and before %+v", after, before)
		}
	}
	must(t, a.Crew.Withdraw(t.Context()))
	must(t, db.Forget(t.Context()))
	worker(t, postgres.Options{URL: url}, 1, "/a", "/clones/app")
	sessions(t, a, 1, nil, nil)
	if w := mine(); w.ID != "" {
		t.Errorf("a worker that has stopped offers %+v", w)
	}
}

// Workers that were not heard of for a while, because the database was away, do not take from each
// other what they take first: as what no worker survived it would be given up.
func TestWorkAfterAnOutage(t *testing.T) {
	url := pgtest.Schema(t)
	a, first := worker(t, postgres.Options{URL: url, Life: time.Hour}, 5, "/a")
	b, second := worker(t, postgres.Options{URL: url, Life: time.Hour}, 5, "/a")
	want := add(t, first, store.Work{Session: "ses_1", Directory: "/a", Root: "/a"})
	must(t, a.Forget(t.Context()))
	must(t, b.Forget(t.Context()))
	if _, got := sessions(t, first, 5, nil, nil); !cmp.Equal(got, []int64{want}) {
		t.Errorf("taken: %d, want %d", got, want)
	}
	if _, got := sessions(t, second, 5, nil, nil); got != nil {
		t.Errorf("another has taken %d, too", got)
	}
}

// waitGone waits until an owner counts as gone.
func waitGone(t *testing.T, s storetest.Store, o store.Owner) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		state, err := s.Queue.State(t.Context())
		must(t, err)
		living := false
		for _, w := range state.Workers {
			living = living || w.ID == o.ID && w.Living
		}
		if !living {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("an owner that says nothing counts as living")
		}
	}
}

// Work that nobody has taken can be dropped; who waits for its answer is told.
func TestDroppedWork(t *testing.T) {
	url := pgtest.Schema(t)
	db, s := worker(t, postgres.Options{URL: url}, 1, "/a")
	taken := add(t, s, store.Work{Session: "ses_1", Directory: "/a", Root: "/a"})
	sessions(t, s, 1, nil, nil)
	waits := add(t, s, store.Work{Session: "ses_1", Directory: "/a", Root: "/a"})
	dropped, by, err := s.Queue.Drop(t.Context(), "ses_1")
	must(t, err)
	if dropped != 1 || !cmp.Equal(by, []store.Owner{db.Self()}) {
		t.Errorf("dropped %d, the rest is with %v", dropped, by)
	}
	if _, err := s.Queue.Answer(t.Context(), waits); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("dropped work is answered %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Queue.Answer(ctx, taken); !errors.Is(err, context.Canceled) {
		t.Errorf("who leaves gets %v", err)
	}
}

// Work that is given back is taken by another at once, and its worker does not count as gone;
// what a server left in a directory that nobody offers is taken by a server that has it.
func TestWorkThatIsGivenBack(t *testing.T) {
	url := pgtest.Schema(t)
	_, a := worker(t, postgres.Options{URL: url, Name: "a"}, 1, "/src/app")
	_, b := worker(t, postgres.Options{URL: url, Name: "b"}, 1, "/src/app")
	n := add(t, a, store.Work{Session: "ses_1", Directory: "/src/app", Root: "/src/app"})
	for range 2 * 3 { // more often than work is taken whose workers are gone
		for _, s := range []storetest.Store{a, b} {
			if got, _ := sessions(t, s, 1, nil, nil); !cmp.Equal(got, []string{"ses_1"}) {
				t.Fatalf("taken: %q", got)
			}
			must(t, s.Crew.GiveBack(t.Context(), n))
		}
	}
	if _, got := sessions(t, a, 1, nil, nil); !cmp.Equal(got, []int64{n}) {
		t.Fatalf("taken: %v", got)
	}
	must(t, b.Crew.GiveBack(t.Context(), n)) // which it does not have
	if got, _ := sessions(t, b, 1, nil, nil); got != nil {
		t.Errorf("another gave it back: %q is taken", got)
	}

	left := add(t, a, store.Work{Session: "ses_2", Directory: "/home/one"})
	adopt := func(s storetest.Store, here string, doing ...int64) (numbers []int64) {
		t.Helper()
		all, err := s.Crew.Adopt(t.Context(), func(dir string) bool { return dir == here }, doing)
		must(t, err)
		for _, w := range all {
			numbers = append(numbers, w.N)
		}
		return numbers
	}
	if got := adopt(a, "/home/two"); got != nil {
		t.Errorf("a server without the directory takes %v", got)
	}
	if got := adopt(b, "/home/one"); !cmp.Equal(got, []int64{left}) {
		t.Errorf("taken: %v", got)
	}
	if got := adopt(a, "/home/one"); got != nil {
		t.Errorf("taken twice: %v", got)
	}
	must(t, b.Crew.Done(t.Context(), left, []byte("did"), true))
}

// What was asked is stored for one worker alone, and once: also in a transaction that began
// before the worker was taken for gone.
func TestWorkIsAcceptedOnce(t *testing.T) {
	url := pgtest.Schema(t)
	const life = 400 * time.Millisecond
	db, gone := worker(t, postgres.Options{URL: url, Life: life}, 5, "/a")
	n := add(t, gone, store.Work{Session: "ses_1", Directory: "/a", Root: "/a"})
	must(t, gone.CreateSession(t.Context(), storetest.Session("ses_1")))
	accept := func(s storetest.Store, by store.Owner, id string) error {
		return s.Batch(t.Context(), func(tx store.Tx) error {
			if err := tx.(store.Accepter).Accept(store.Taking{N: n, By: by.ID}); err != nil {
				return err
			}
			return tx.AddMessage(storetest.UserMessage("ses_1", id))
		})
	}
	refused := func(what string, s storetest.Store, by store.Owner) {
		t.Helper()
		if err := s.Crew.Acceptable(t.Context(), store.Taking{N: n, By: by.ID}); !errors.Is(err, store.ErrLost) {
			t.Errorf("%s may be accepted: %v", what, err)
		}
		if err := accept(s, by, "msg_no"); !errors.Is(err, store.ErrLost) {
			t.Errorf("%s is accepted: %v", what, err)
		}
	}
	pending := func(want bool) {
		t.Helper()
		if got, err := gone.Queue.Pending(t.Context(), "ses_1"); err != nil || got != want {
			t.Errorf("it is still to begin: %t, %v", got, err)
		}
	}
	pending(true)
	refused("what nobody has taken", gone, db.Self())
	sessions(t, gone, 5, nil, nil)
	must(t, gone.Crew.Acceptable(t.Context(), store.Taking{N: n, By: db.Self().ID}))
	db.Silence()
	other, next := worker(t, postgres.Options{URL: url}, 5, "/a")
	waitGone(t, next, db.Self())
	if _, got := sessions(t, next, 5, nil, nil); !cmp.Equal(got, []int64{n}) {
		t.Fatalf("taken: %d, want %d", got, n)
	}
	refused("what another has", gone, db.Self())
	pending(true)
	must(t, accept(next, other.Self(), "msg_1"))
	pending(false)
	refused("what was accepted", next, other.Self())
	if _, err := next.Message(t.Context(), "ses_1", "msg_no"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what was refused is stored: %v", err)
	}
	must(t, next.Crew.Done(t.Context(), n, nil, true))
	refused("what has ended", next, other.Self())
}
