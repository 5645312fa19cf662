package work

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
)

// line is a queue in memory, for one worker.
type line struct {
	mu      sync.Mutex
	waiting []store.Work
	doing   [][]int64
	free    []int
	ended   map[int64]string
	wake    chan struct{}
	away    bool
	lost    map[int64]bool // another worker has it
}

func (l *line) Offer(context.Context, []string, int, map[string]string) error { return nil }

func (l *line) Withdraw(context.Context) error { return nil }

func (l *line) Take(_ context.Context, free int, doing []int64, _ map[string]int) ([]store.Work, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return nil, errors.New("away")
	}
	l.free, l.doing = append(l.free, free), append(l.doing, doing)
	n := min(free, len(l.waiting))
	out := l.waiting[:n]
	l.waiting = l.waiting[n:]
	return out, nil
}

func (l *line) Done(_ context.Context, n int64, answer []byte, over bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost[n] {
		return store.ErrLost
	}
	l.ended[n] += string(answer)
	if over {
		l.ended[n] += "."
	}
	return nil
}

func (l *line) Adopt(context.Context, func(string) bool, []int64) ([]store.Work, error) {
	return nil, nil
}

func (l *line) Acceptable(context.Context, store.Taking) error { return nil }

func (l *line) GiveBack(_ context.Context, n int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended[n] += "<"
	return nil
}

func (l *line) Wake(ctx context.Context) {
	select {
	case <-l.wake:
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
	}
}

func works(l *line, turns int, do func(store.Work) ([]byte, int)) Options {
	return Options{
		Crew: l, Turns: turns, Log: slog.New(slog.DiscardHandler), Ready: func() {}, Refused: func(store.Work) {},
		Do:     func(_ context.Context, w store.Work) ([]byte, int) { return do(w) },
		Settle: func(context.Context, lathe.SessionID) error { return nil },
		Left:   func(lathe.SessionID) bool { return false },
		Losses: func(lathe.SessionID) int { return 0 },
	}
}

// What was accepted and cannot begin for now is tried again; what must not be repeated is
// not, and what is refused is answered so. What fails without a known reason is tried a few times.
func TestWorkThatCannotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{ended: map[int64]string{}, waiting: []store.Work{{N: 1}, {N: 2, Once: true}, {N: 3}, {N: 4}, {N: 5}}}
		var mu sync.Mutex
		tries := map[int64]int{}
		ctx, stop := context.WithCancel(t.Context())
		var ran sync.WaitGroup
		ran.Go(func() {
			err := Run(ctx, works(l, 5, func(w store.Work) ([]byte, int) {
				mu.Lock()
				defer mu.Unlock()
				tries[w.N]++
				switch {
				case w.N == 3:
					return []byte("no such agent"), http.StatusBadRequest
				case w.N == 4, w.N == 5 && tries[5] < 3:
					return []byte("unforeseen"), http.StatusInternalServerError
				case tries[w.N] < 4:
					return []byte("away"), http.StatusServiceUnavailable
				}
				return []byte("done"), http.StatusOK
			}))
			if err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		ran.Wait()
		if diff := cmp.Diff(map[int64]string{1: "done.", 2: "away.", 3: "no such agent.", 4: "unforeseen.", 5: "done."}, l.ended); diff != "" {
			t.Errorf("answered (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[int64]int{1: 4, 2: 1, 3: 1, 4: 5, 5: 4}, tries); diff != "" {
			t.Errorf("tried (-want +got):\n%s", diff)
		}
	})
}

// A worker that stops while work cannot begin gives it back: nothing is answered.
func TestStoppingLeavesWhatHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{ended: map[int64]string{}, waiting: []store.Work{{N: 1}}}
		ctx, stop := context.WithCancel(t.Context())
		var ran sync.WaitGroup
		ran.Go(func() {
			_ = Run(ctx, works(l, 1, func(store.Work) ([]byte, int) { return []byte("away"), http.StatusServiceUnavailable }))
		})
		time.Sleep(time.Minute)
		stop()
		ran.Wait()
		if diff := cmp.Diff(map[int64]string{1: "<"}, l.ended); diff != "" {
			t.Errorf("answered (-want +got):\n%s", diff)
		}
	})
}

// What fails because the worker stops, whatever it says, is left to another.
func TestFailingWhileStoppingLeavesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{ended: map[int64]string{}, waiting: []store.Work{{N: 1}, {N: 2, Once: true}}}
		ctx, stop := context.WithCancel(t.Context())
		var ran sync.WaitGroup
		ran.Go(func() {
			_ = Run(ctx, works(l, 2, func(store.Work) ([]byte, int) {
				<-ctx.Done()
				return []byte("aborted"), http.StatusConflict
			}))
		})
		synctest.Wait()
		stop()
		ran.Wait()
		if diff := cmp.Diff(map[int64]string{1: "<", 2: "aborted."}, l.ended); diff != "" {
			t.Errorf("answered (-want +got):\n%s", diff)
		}
	})
}

// A worker that is refused what another has by now does not tell that the session is idle: the
// other works on it.
func TestRefusedToWhoLostIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{ended: map[int64]string{}, lost: map[int64]bool{1: true}, waiting: []store.Work{{N: 1}, {N: 2}}}
		o := works(l, 1, func(store.Work) ([]byte, int) { return []byte("no"), http.StatusConflict })
		var told []int64
		o.Refused = func(w store.Work) { told = append(told, w.N) }
		ctx, stop := context.WithCancel(t.Context())
		var ran sync.WaitGroup
		ran.Go(func() { _ = Run(ctx, o) })
		time.Sleep(time.Minute)
		stop()
		ran.Wait()
		if diff := cmp.Diff([]int64{2}, told); diff != "" {
			t.Errorf("told to be idle (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[int64]string{2: "no."}, l.ended); diff != "" {
			t.Errorf("answered (-want +got):\n%s", diff)
		}
	})
}

// What another took over while it was being done goes back, answered or not: a prompt that steered
// the lost turn has no answer. What must not be repeated is over.
func TestLostWorkGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{ended: map[int64]string{}, waiting: []store.Work{{N: 1, Session: "lost"}, {N: 2, Session: "lost", Once: true}, {N: 3, Session: "kept"}}}
		o := works(l, 3, func(store.Work) ([]byte, int) { return []byte("yes"), http.StatusNoContent })
		var mu sync.Mutex
		lost := 7 // earlier turns
		o.Settle = func(_ context.Context, id lathe.SessionID) error {
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			lost = 8
			return nil
		}
		o.Losses = func(id lathe.SessionID) int {
			mu.Lock()
			defer mu.Unlock()
			if id == "kept" {
				return 0
			}
			return lost
		}
		ctx, stop := context.WithCancel(t.Context())
		var ran sync.WaitGroup
		ran.Go(func() { _ = Run(ctx, o) })
		time.Sleep(time.Minute)
		stop()
		ran.Wait()
		if diff := cmp.Diff(map[int64]string{1: "yes<", 2: "yes.", 3: "yes."}, l.ended); diff != "" {
			t.Errorf("answered (-want +got):\n%s", diff)
		}
	})
}

// A worker takes as much as it has hands for, counted by sessions, and goes on when the
// database comes back.
func TestHands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{ended: map[int64]string{}, away: true, waiting: []store.Work{{N: 1, Session: "a"}, {N: 2, Session: "a"}, {N: 3, Session: "b"}}}
		ctx, stop := context.WithCancel(t.Context())
		release := make(chan struct{})
		var ran sync.WaitGroup
		ran.Go(func() {
			_ = Run(ctx, works(l, 2, func(store.Work) ([]byte, int) { <-release; return []byte("done"), http.StatusOK }))
		})
		time.Sleep(4 * time.Second) // it has looked twice
		l.mu.Lock()
		l.away = false
		l.mu.Unlock()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		l.mu.Lock()
		if diff := cmp.Diff([]int{2, 1, 0}, l.free[:3]); diff != "" {
			t.Errorf("free (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]int64{1, 2, 3}, l.doing[2]); diff != "" {
			t.Errorf("doing (-want +got):\n%s", diff)
		}
		l.mu.Unlock()
		close(release)
		stop()
		ran.Wait()
		if diff := cmp.Diff(map[int64]string{1: "done.", 2: "done.", 3: "done."}, l.ended); diff != "" {
			t.Errorf("answered (-want +got):\n%s", diff)
		}
	})
}

// Work whose session was handed over goes back, whether it was answered before or not; other
// work ends.
func TestWorkOfHandedOverTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{ended: map[int64]string{}, waiting: []store.Work{{N: 1, Session: "early"}, {N: 2, Session: "late"}, {N: 3, Session: "over"}}}
		ctx, stop := context.WithCancel(t.Context())
		o := works(l, 3, func(store.Work) ([]byte, int) { return []byte("accepted"), http.StatusOK })
		settled := false
		o.Settle = func(_ context.Context, id lathe.SessionID) error {
			if id == "late" {
				time.Sleep(time.Second)
				settled = true
			}
			return nil
		}
		o.Left = func(id lathe.SessionID) bool { return id == "early" || id == "late" && settled }
		var ran sync.WaitGroup
		ran.Go(func() { _ = Run(ctx, o) })
		time.Sleep(time.Minute)
		stop()
		ran.Wait()
		if diff := cmp.Diff(map[int64]string{1: "<", 2: "accepted<", 3: "accepted."}, l.ended); diff != "" {
			t.Errorf("answered (-want +got):\n%s", diff)
		}
	})
}
