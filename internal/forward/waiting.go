package forward

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"lathe"
	"lathe/internal/store"
)

const (
	// noticeTime is how long queued work waits before its session is told so: a worker that is
	// free has taken it long before.
	noticeTime = 3 * time.Second
	// noticeEvery bounds how often the queue is looked at for that.
	noticeEvery = time.Second
)

// waiting looks whether queued work waits, for all of it at once.
type waiting struct {
	mu      sync.Mutex
	added   []added // the oldest first
	looks   bool    // somebody does
	open    context.Context
	shut    context.CancelFunc
	looking sync.WaitGroup
}

// added is work that was queued.
type added struct {
	n         int64
	session   lathe.SessionID
	directory string
	due       time.Time // when its session is told
}

// tellWaiting tells who follows a session that what was asked of it waits for a worker, and why,
// if nobody has taken it after a while. It ends with the forwarder.
func (f *Forwarder) tellWaiting(n int64, w store.Work) {
	l := &f.late
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open.Err() != nil {
		return
	}
	l.added = append(l.added, added{n, w.Session, w.Directory, time.Now().Add(noticeTime)})
	if !l.looks {
		l.looks = true
		l.looking.Go(f.lookAfter)
	}
}

// end returns when nobody looks any more.
func (l *waiting) end() {
	l.mu.Lock()
	l.shut()
	l.mu.Unlock()
	l.looking.Wait()
}

// due returns the work that has waited long enough by now, and how long it is until the next has;
// without any, nobody looks any more.
func (l *waiting) due() (now []added, next time.Duration, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.added, func(a added) bool { return time.Until(a.due) > 0 })
	if i < 0 {
		now, l.added, l.looks = l.added, nil, len(l.added) > 0
		return now, 0, l.looks
	}
	now, l.added = l.added[:i:i], l.added[i:]
	return now, time.Until(l.added[0].due), true
}

// lookAfter tells of what waits until there is nothing more to look after.
func (f *Forwarder) lookAfter() {
	for {
		due, next, more := f.late.due()
		if len(due) > 0 {
			f.tellThose(due)
		}
		if !more {
			return
		}
		wait := time.NewTimer(max(next, noticeEvery))
		select {
		case <-wait.C:
		case <-f.late.open.Done():
			wait.Stop()
			return
		}
	}
}

// tellThose tells the sessions whose work nobody has taken.
func (f *Forwarder) tellThose(all []added) {
	state, err := f.o.Store.Queue.State(f.late.open)
	switch {
	case f.late.open.Err() != nil:
		return
	case err != nil:
		f.o.Log.Warn("whether prompts wait is not known", "err", err)
		return
	}
	untaken := map[int64]bool{}
	for _, w := range state.Open {
		untaken[w.N] = w.By.ID == ""
	}
	why := map[string]string{}
	for _, a := range all {
		if !untaken[a.n] {
			continue
		}
		if why[a.directory] == "" {
			if why[a.directory], err = f.whyWaits(a.directory); err != nil {
				f.o.Log.Warn("why a prompt waits is not known", "session", a.session, "err", err)
				continue
			}
		}
		f.o.Tell(a.directory, lathe.Notice{SessionID: a.session, Title: "Waiting for a worker", Text: why[a.directory]})
	}
}

// whyWaits says why nobody takes work of a directory.
func (f *Forwarder) whyWaits(dir string) (string, error) {
	_, workers, err := f.o.Store.Queue.Offers(f.late.open, dir)
	switch {
	case err != nil:
		return "", err
	case slices.ContainsFunc(workers, func(w store.Worker) bool { return w.Living && w.Turns > 0 }):
		return fmt.Sprintf("it waits until a worker has time: those that have %s are busy (lathe workers shows with what)", dir), nil
	}
	return fmt.Sprintf("it waits for a worker: none that has %s is there now (lathe workers shows which there were)", dir), nil
}
