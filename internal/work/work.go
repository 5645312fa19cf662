// Package work does on a worker what was queued for it: a worker offers the directories
// that it has, and takes as much as it can do at once.
package work

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"lathe"
	"lathe/internal/store"
)

// Options configure [Run]. All of them are needed but Remotes and Limits.
type Options struct {
	Crew        store.Crew
	Directories []string // offered
	// Remotes are those of the offered directories that are clones.
	Remotes map[string]string
	Turns   int // that run at once
	// Limits bound the turns in a directory, by all workers together.
	Limits map[string]int
	// Do does work and returns the answer with its HTTP status; 503 or 507 if it could not even
	// begin, for now. It returns early with a prompt that is only to be accepted.
	Do func(ctx context.Context, w store.Work) (answer []byte, status int)
	// Settle returns when a session is idle here. Refused tells that it is, because nothing
	// has begun.
	Settle  func(ctx context.Context, session lathe.SessionID) error
	Refused func(w store.Work)
	// Left reports whether the turn of a session was handed over: its work goes back.
	Left func(session lathe.SessionID) bool
	// Losses counts how often another server took over a session whose turn ran here.
	Losses func(session lathe.SessionID) int
	// Ready is called once the offer is known.
	Ready func()
	Log   *slog.Logger
}

// Run takes work and has it done until ctx ends; then it takes no more and returns when
// what it has is done. It fails if the offer cannot be made known.
func Run(ctx context.Context, o Options) error {
	if err := o.Crew.Offer(ctx, o.Directories, o.Turns, o.Remotes); err != nil {
		return err
	}
	o.Ready()
	h := &hands{o: o, stopping: ctx.Done(), doing: map[int64]lathe.SessionID{}}
	for ctx.Err() == nil {
		h.take(ctx)
		o.Crew.Wake(ctx)
	}
	end := context.WithoutCancel(ctx)
	err := o.Crew.Withdraw(end)
	h.wg.Wait()
	return err
}

// hands do what was taken.
type hands struct {
	o        Options
	stopping <-chan struct{}
	wg       sync.WaitGroup

	mu    sync.Mutex
	doing map[int64]lathe.SessionID
}

// Adopt goes on, until ctx ends, with what servers left that stop, in directories that are
// here; then it returns when what it has is done. Of the options it needs neither
// directories nor turns.
func Adopt(ctx context.Context, o Options, here func(directory string) bool) {
	h := &hands{o: o, stopping: ctx.Done(), doing: map[int64]lathe.SessionID{}}
	for ctx.Err() == nil {
		_, doing := h.busy()
		taken, err := o.Crew.Adopt(ctx, here, doing)
		h.begin(ctx, taken, err)
		o.Crew.Wake(ctx)
	}
	h.wg.Wait()
}

// take takes what there is to take, and begins with it.
func (h *hands) take(ctx context.Context) {
	free, doing := h.busy()
	taken, err := h.o.Crew.Take(ctx, free, doing, h.o.Limits)
	h.begin(ctx, taken, err)
}

func (h *hands) begin(ctx context.Context, taken []store.Work, err error) {
	if err != nil {
		if ctx.Err() == nil {
			h.o.Log.Warn("no work could be taken; it is tried again", "err", err)
		}
		return
	}
	for _, w := range taken {
		h.mu.Lock()
		h.doing[w.N] = w.Session
		h.mu.Unlock()
		h.wg.Go(func() {
			defer func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				delete(h.doing, w.N)
			}()
			h.do(context.WithoutCancel(ctx), w)
		})
	}
}

// busy returns how many sessions more can be worked on, and what is being done. What
// steers a session costs nothing.
func (h *hands) busy() (free int, doing []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sessions := map[lathe.SessionID]bool{}
	for _, id := range h.doing {
		sessions[id] = true
	}
	return max(0, h.o.Turns-len(sessions)), slices.Sorted(maps.Keys(h.doing))
}

// Work that cannot begin, because the database is away or full for instance, is tried again
// for about ten minutes: it was accepted. What fails for a reason that nobody foresaw is tried a few
// times.
const (
	firstPause = 200 * time.Millisecond
	mostPause  = 10 * time.Second
	attempts   = 60
	unforeseen = 5
)

// attempt does work, again as long as it could not begin. What must not be repeated is done
// once. While the worker stops nothing is, and what fails then waits for another worker: it may
// have failed because this one stops.
func (h *hands) attempt(ctx context.Context, w store.Work) (answer []byte, status int) {
	pause := firstPause
	for n := 1; ; n++ {
		answer, status = h.o.Do(ctx, w)
		later := status == http.StatusServiceUnavailable || status == http.StatusInsufficientStorage
		later = later || status == http.StatusInternalServerError && n < unforeseen
		if status >= http.StatusBadRequest && !w.Once && h.stops() {
			return nil, status
		}
		if !later || w.Once || n == attempts {
			return answer, status
		}
		select {
		case <-time.After(pause):
		case <-h.stopping:
			return nil, status
		}
		pause = min(2*pause, mostPause)
	}
}

// stops reports whether the worker is about to end.
func (h *hands) stops() bool {
	select {
	case <-h.stopping:
		return true
	default:
		return false
	}
}

// do does one piece of work. It is over when its session is idle. If the session was lost
// meanwhile, the work goes back: a prompt that steered the lost turn has no answer yet.
func (h *hands) do(ctx context.Context, w store.Work) {
	losses := h.o.Losses(w.Session)
	answer, status := h.attempt(ctx, w)
	if answer == nil && status != 0 || h.o.Left(w.Session) {
		h.giveBack(ctx, w)
		return
	}
	err := h.o.Crew.Done(ctx, w.N, answer, false)
	if err == nil && (status >= http.StatusBadRequest || status == 0) {
		h.o.Refused(w)
	}
	if err == nil {
		err = h.o.Settle(ctx, w.Session)
		if err == nil && (h.o.Left(w.Session) || h.o.Losses(w.Session) != losses && !w.Once) {
			h.giveBack(ctx, w)
			return
		}
		if err == nil {
			err = h.o.Crew.Done(ctx, w.N, nil, true)
		}
	}
	if err != nil { // another worker finds out what became of it
		h.o.Log.Warn("the end of queued work could not be recorded", "session", w.Session, "err", err)
	}
}

// giveBack lets another worker go on with work at once. If that cannot be stored, it finds
// nobody who has it when this one is gone.
func (h *hands) giveBack(ctx context.Context, w store.Work) {
	if err := h.o.Crew.GiveBack(ctx, w.N); err != nil {
		h.o.Log.Warn("queued work could not be given back", "session", w.Session, "err", err)
	}
}
