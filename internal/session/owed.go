package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"lathe"
	"lathe/internal/store"
)

// debts are what a full or broken disk kept the service from storing: leases that
// were not given back, and sessions whose last answer is missing. Storing is
// retried until it works, so that half a second without space ends only the turns
// that fell into it.
type debts struct {
	store *store.Store
	owner store.Owner
	log   *slog.Logger
	ctx   context.Context // the service's
	wg    *sync.WaitGroup // Close waits for it

	mu      sync.Mutex
	leases  map[lathe.SessionID]store.Lease
	runners map[*runner]struct{}
	busy    bool // somebody is trying
}

// Waits between attempts to store what is owed.
const (
	owedFirst = 100 * time.Millisecond
	owedMost  = 2 * time.Second
)

// lease takes the lease of a session, reusing one that could not be given back.
func (d *debts) lease(ctx context.Context, id lathe.SessionID) (store.Lease, error) {
	d.mu.Lock()
	l := d.leases[id]
	delete(d.leases, id)
	d.mu.Unlock()
	if l != nil {
		if ok, err := l.Valid(ctx); ok || err != nil {
			return l, err
		}
	}
	return d.store.Acquire(ctx, id, d.owner)
}

// giveBack releases a lease, now or as soon as that can be stored.
func (d *debts) giveBack(ctx context.Context, id lathe.SessionID, l store.Lease) {
	err := l.Release(ctx)
	if err == nil {
		return
	}
	d.log.Warn("the session's lease could not be released; it is tried again", "session", id, "err", err)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leases == nil {
		d.leases = map[lathe.SessionID]store.Lease{}
	}
	d.leases[id] = l
	d.tryLater()
}

// owes notes that a session's last answer still has to be stored.
func (d *debts) owes(r *runner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runners == nil {
		d.runners = map[*runner]struct{}{}
	}
	d.runners[r] = struct{}{}
	d.tryLater()
}

// tryLater makes sure that somebody tries again. The caller holds mu, and
// either Close waits for it or it runs before Close.
func (d *debts) tryLater() {
	if d.busy {
		return
	}
	d.busy = true
	d.wg.Go(d.pay)
}

// pay tries to store what is owed, at growing intervals, until it is stored. It
// tries once more when the service ends.
func (d *debts) pay() {
	for wait := owedFirst; ; wait = min(2*wait, owedMost) {
		select {
		case <-time.After(wait):
		case <-d.ctx.Done():
		}
		if d.payAll(context.Background()) || d.ctx.Err() != nil {
			return
		}
	}
}

// payAll stores what is owed and reports whether nothing is left.
func (d *debts) payAll(ctx context.Context) bool {
	d.mu.Lock()
	var runners []*runner
	for r := range d.runners {
		runners = append(runners, r)
	}
	d.mu.Unlock()
	for _, r := range runners {
		if r.payIdle(ctx) == nil {
			d.mu.Lock()
			delete(d.runners, r)
			d.mu.Unlock()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, l := range d.leases {
		if l.Release(ctx) == nil {
			delete(d.leases, id)
		}
	}
	d.busy = len(d.runners) > 0 || len(d.leases) > 0
	return !d.busy
}

// payIdle stores what is owed to a session and closes what its turn left open. A
// session that is busy again has done both.
func (r *runner) payIdle(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.pay(ctx)
	if err == nil && r.work == nil {
		err = r.closeOpen(ctx)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrBusy) {
		return nil // the session is gone, or another process has it
	}
	return err
}

// heldElsewhere returns an error that names the process in which a turn of the
// session runs, if it is not this one.
func (d *debts) heldElsewhere(ctx context.Context, id lathe.SessionID) error {
	by, held, err := d.store.Holder(ctx, id)
	if err != nil || !held || by.Owner == d.owner {
		return err
	}
	return busyIn(id, by)
}
