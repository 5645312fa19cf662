package forward

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lathe"
	"lathe/internal/store"
)

// noticeTime is how long queued work waits before its session is told so: a worker that is free
// has taken it long before.
const noticeTime = 3 * time.Second

// tellWaiting tells who follows a session that what was asked of it waits for a worker, and why,
// if nobody has taken it after a while. It ends with the forwarder.
func (f *Forwarder) tellWaiting(n int64, w store.Work) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open.Err() != nil {
		return
	}
	f.waiting.Go(func() {
		late := time.NewTimer(noticeTime)
		defer late.Stop()
		select {
		case <-late.C:
		case <-f.open.Done():
			return
		}
		text, err := f.whyWaits(f.open, n, w.Directory)
		switch {
		case err != nil && f.open.Err() == nil:
			f.o.Log.Warn("whether a prompt waits is not known", "session", w.Session, "err", err)
		case text != "":
			f.o.Tell(w.Directory, lathe.Notice{SessionID: w.Session, Title: "Waiting for a worker", Text: text})
		}
	})
}

// whyWaits says why nobody has taken queued work of a directory; "" if somebody has.
func (f *Forwarder) whyWaits(ctx context.Context, n int64, dir string) (string, error) {
	state, err := f.o.Store.Queue.State(ctx)
	if err != nil || !slices.ContainsFunc(state.Open, func(w store.Work) bool { return w.N == n && w.By.ID == "" }) {
		return "", err
	}
	_, workers, err := f.o.Store.Queue.Offers(ctx, dir)
	switch {
	case err != nil:
		return "", err
	case slices.ContainsFunc(workers, func(w store.Worker) bool { return w.Living && w.Turns > 0 }):
		return fmt.Sprintf("it waits until a worker has time: those that have %s are busy (lathe workers shows with what)", dir), nil
	}
	return fmt.Sprintf("it waits for a worker: none that has %s is there now (lathe workers shows which there were)", dir), nil
}
