package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
)

// heart tells the database that this server lives, as long as it holds leases.
type heart struct {
	db   *core
	self store.Owner
	life time.Duration

	mu     sync.Mutex
	offer  *offer                     // of a worker, for which it beats without leases, too; nil: this is none
	held   map[lathe.SessionID]*lease // leases that this server believes to hold
	beaten time.Time                  // when the database was last told
	end    chan struct{}              // closed to end beating; nil while there is nothing to tell
	wg     sync.WaitGroup
	shut   bool
}

// beat tells the database that an owner lives.
func (h *heart) beat(ctx context.Context) error {
	_, err := h.db.pool.Exec(ctx, `INSERT INTO owner (id, name, expires) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 microsecond')
		ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`, h.self.ID, h.self.Name, h.life.Microseconds())
	if err == nil {
		h.db.absence.answered()
		h.mu.Lock()
		h.beaten = time.Now()
		h.mu.Unlock()
	}
	return err
}

// ensure makes this server known, and keeps it so as long as it holds leases.
func (h *heart) ensure(ctx context.Context) error {
	h.mu.Lock()
	fresh := h.end != nil && time.Since(h.beaten) < h.life/2
	h.mu.Unlock()
	if !fresh {
		if err := h.db.retry(ctx, h.beat); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.end == nil && !h.shut {
		h.end = make(chan struct{})
		h.wg.Add(1)
		go h.run(h.end)
	}
	return nil
}

// run beats until there is nothing to hold.
func (h *heart) run(end chan struct{}) {
	defer h.wg.Done()
	tick := time.NewTicker(h.life / 4)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
		}
		if h.idle() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), h.life/2)
		if err := h.beat(ctx); err != nil {
			h.db.log.Warn("the database could not be told that this server lives", "err", err)
		}
		cancel()
	}
}

// idle reports whether nobody has to know of this server, in which case beating ends.
func (h *heart) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.offer != nil || len(h.held) > 0 {
		return false
	}
	h.end = nil
	return true
}

// stop ends beating and frees what this server still holds.
func (h *heart) stop() {
	h.silence()
	h.mu.Lock()
	known := !h.beaten.IsZero()
	h.mu.Unlock()
	if !known {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if _, err := h.db.pool.Exec(ctx, `DELETE FROM owner WHERE id = $1`, h.self.ID); err != nil {
		h.db.log.Warn("the leases of this server end by themselves", "err", err)
	}
}

// silence ends beating.
func (h *heart) silence() {
	h.mu.Lock()
	h.shut = true
	if h.end != nil {
		close(h.end)
		h.end = nil
	}
	h.mu.Unlock()
	h.wg.Wait()
}

// lease returns the lease of a session that this server believes to hold; nil if there is none.
func (h *heart) lease(session lathe.SessionID) *lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held[session]
}

func (h *heart) hold(l *lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held[l.session] = l
}

func (h *heart) let(l *lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held[l.session] == l {
		delete(h.held, l.session)
	}
}

// leases is a [store.Leases].
type leases struct{ *core }

// lease is a row that names its owner.
type lease struct {
	db      *core
	session lathe.SessionID
	own     bool // of this server

	renewing sync.RWMutex // held while the number changes
	fence    atomic.Int64
	known    atomic.Pointer[known] // nil: nothing is
}

// number returns its number, once it is known whether it changes.
func (l *lease) number() int64 {
	l.renewing.RLock()
	defer l.renewing.RUnlock()
	return l.fence.Load()
}

// renew gives a lease another number, so that nothing is stored any more of what was sent with the
// one before: a transaction that has asked for that ends first. A lease that is another's by now
// stays as it is, and has the same effect.
func (l *lease) renew(ctx context.Context) error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	fence := l.fence.Load()
	err := l.db.again(ctx, func(tx *tx) error {
		err := tx.row(`UPDATE lease SET fence = DEFAULT WHERE fence = $1 AND session = (SELECT n FROM session WHERE id = $2) RETURNING fence`,
			l.fence.Load(), l.session).Scan(&fence)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err == nil {
		l.fence.Store(fence)
	}
	return err
}

// Acquire implements [store.Leases]. The owner is that of an open database, [DB.Self].
func (s leases) Acquire(ctx context.Context, session lathe.SessionID, o store.Owner) (store.Lease, error) {
	l := &lease{db: s.core, session: session, own: o == s.heart.self}
	var err error
	if l.own {
		err = s.explain(s.heart.ensure(ctx))
	}
	if err == nil {
		err = s.attempt(ctx, func(tx *tx) error { return tx.acquire(l, o) }) // each write asks for it by its number
	}
	if err != nil {
		return nil, fmt.Errorf("lease session %s: %w", session, err)
	}
	if l.own {
		s.heart.hold(l)
	}
	return l, nil
}

func (tx *tx) acquire(l *lease, o store.Owner) error {
	// Whoever else wants it waits here.
	var n int64
	err := tx.row(`SELECT n FROM session WHERE id = $1 FOR NO KEY UPDATE`, l.session).Scan(&n)
	if err != nil {
		return missing(err)
	}
	held, ok, err := tx.holder(l.session)
	if err != nil {
		return err
	}
	if ok {
		return &store.BusyError{Session: l.session, Holder: held}
	}
	var fence int64
	err = tx.row(`INSERT INTO lease (session, owner, name) VALUES ($1, $2, $3)
		ON CONFLICT (session) DO UPDATE SET fence = excluded.fence, owner = excluded.owner, name = excluded.name RETURNING fence`,
		n, o.ID, o.Name).Scan(&fence)
	l.fence.Store(fence)
	return err
}

// Release is [store.Lease.Release].
func (l *lease) Release(ctx context.Context) error {
	err := l.db.again(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM lease WHERE fence = $1 AND session = (SELECT n FROM session WHERE id = $2)`, l.number(), l.session)
		return err
	})
	if err != nil {
		return fmt.Errorf("release session %s: %w", l.session, err)
	}
	if l.own {
		l.db.heart.let(l)
	}
	return nil
}

// Valid is [store.Lease.Valid].
func (l *lease) Valid(ctx context.Context) (ok bool, err error) {
	err = l.db.glance(ctx, func(v *view) error {
		l.renewing.RLock()
		defer l.renewing.RUnlock()
		return v.row(`SELECT EXISTS (SELECT 1 FROM lease WHERE fence = $1 AND session = (SELECT n FROM session WHERE id = $2))`, l.fence.Load(), l.session).Scan(&ok)
	})
	if err != nil {
		return false, fmt.Errorf("look at the lease of session %s: %w", l.session, err)
	}
	return ok, nil
}

// Holder is [store.Leases.Holder].
func (s leases) Holder(ctx context.Context, session lathe.SessionID) (h store.Holder, ok bool, err error) {
	err = s.glance(ctx, func(v *view) error {
		h, ok, err = v.holder(session)
		return err
	})
	return h, ok, err
}

// BreakLease is [store.Leases.BreakLease].
func (s leases) BreakLease(ctx context.Context, session lathe.SessionID) error {
	err := s.again(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM lease WHERE session = (SELECT n FROM session WHERE id = $1)`, session)
		return err
	})
	if err != nil {
		return fmt.Errorf("break lease of session %s: %w", session, err)
	}
	return nil
}

// holder returns who holds a lease; nobody holds one whose owner was not heard of for
// too long, see [absence].
func (v *view) holder(session lathe.SessionID) (h store.Holder, living bool, err error) {
	var late *int64
	err = v.row(`SELECT l.owner, l.name, `+lateness+`
		FROM session s JOIN lease l ON l.session = s.n LEFT JOIN owner o ON o.id = l.owner WHERE s.id = $1`, session).Scan(&h.ID, &h.Name, &late)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Holder{}, false, nil
	}
	if err != nil || v.db.absence.gone(late) {
		return store.Holder{}, false, err
	}
	return h, true, nil
}
