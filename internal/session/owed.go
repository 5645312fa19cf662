package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"lathe"
	"lathe/internal/store"
)

// owed is what a full or broken disk kept the service from storing: leases that
// were not given back, and sessions whose last answer is not there. It is tried
// again until it works, so that half a second without space ends nothing but the
// turns that fell into it.
type owed struct {
	mu      sync.Mutex
	leases  map[lathe.SessionID]store.Lease
	runners map[*runner]struct{}
	busy    bool // somebody tries
}

// Waits between attempts to store what is owed.
const (
	owedFirst = 100 * time.Millisecond
	owedMost  = 2 * time.Second
)

// lease takes the lease of a session, or the one that could not be given back.
func (s *Service) lease(ctx context.Context, id lathe.SessionID) (store.Lease, error) {
	s.owed.mu.Lock()
	l := s.owed.leases[id]
	delete(s.owed.leases, id)
	s.owed.mu.Unlock()
	if l != nil {
		if ok, err := l.Valid(ctx); ok || err != nil {
			return l, err
		}
	}
	return s.opts.Store.Acquire(ctx, id, s.opts.Owner)
}

// giveBack releases a lease, now or as soon as that can be stored.
func (s *Service) giveBack(ctx context.Context, id lathe.SessionID, l store.Lease) {
	err := l.Release(ctx)
	if err == nil {
		return
	}
	s.opts.Log.Warn("the session's lease could not be released; it is tried again", "session", id, "err", err)
	s.owed.mu.Lock()
	defer s.owed.mu.Unlock()
	if s.owed.leases == nil {
		s.owed.leases = map[lathe.SessionID]store.Lease{}
	}
	s.owed.leases[id] = l
	s.tryLater()
}

// owes notes that a session's last answer is not stored.
func (s *Service) owes(r *runner) {
	s.owed.mu.Lock()
	defer s.owed.mu.Unlock()
	if s.owed.runners == nil {
		s.owed.runners = map[*runner]struct{}{}
	}
	s.owed.runners[r] = struct{}{}
	s.tryLater()
}

// tryLater makes sure that somebody tries again. The caller holds owed.mu, and is
// one whom Close waits for or comes before it.
func (s *Service) tryLater() {
	if s.owed.busy {
		return
	}
	s.owed.busy = true
	s.wg.Go(s.payOwed)
}

// payOwed tries to store what is owed, less and less often, until it is stored. At
// the end of the service it tries once more.
func (s *Service) payOwed() {
	for wait := owedFirst; ; wait = min(2*wait, owedMost) {
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
		}
		if s.payAll(context.Background()) || s.ctx.Err() != nil {
			return
		}
	}
}

// payAll reports whether nothing is owed any more.
func (s *Service) payAll(ctx context.Context) bool {
	s.owed.mu.Lock()
	var runners []*runner
	for r := range s.owed.runners {
		runners = append(runners, r)
	}
	s.owed.mu.Unlock()
	for _, r := range runners {
		if r.payIdle(ctx) == nil {
			s.owed.mu.Lock()
			delete(s.owed.runners, r)
			s.owed.mu.Unlock()
		}
	}
	s.owed.mu.Lock()
	defer s.owed.mu.Unlock()
	for id, l := range s.owed.leases {
		if l.Release(ctx) == nil {
			delete(s.owed.leases, id)
		}
	}
	s.owed.busy = len(s.owed.runners) > 0 || len(s.owed.leases) > 0
	return !s.owed.busy
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
		return nil // it is gone, or another process has it
	}
	return err
}
