package session

import (
	"context"
	"maps"
	"sync"

	"lathe"
	"lathe/internal/bus"
)

// statuses knows what every session is doing, in this process or as it was seen
// in others, from what was published about it.
type statuses struct {
	bus *bus.Bus
	sub *bus.Subscription

	mu sync.Mutex
	of map[lathe.SessionID]doing // idle sessions are left out
}

type doing struct {
	dir    string
	status lathe.Status
}

// newStatuses subscribes to the bus at once, so that nothing published later is
// missed. Close it.
func newStatuses(b *bus.Bus) *statuses {
	t := &statuses{bus: b, of: map[lathe.SessionID]doing{}}
	t.sub = b.Subscribe(context.Background(), bus.Filter{Match: tellsStatus, Tap: t.take}, bus.Limits{})
	return t
}

func tellsStatus(ev lathe.Event) bool {
	switch ev.(type) {
	case lathe.SessionStatus, lathe.SessionDeleted:
		return true
	}
	return false
}

func (t *statuses) close() { t.sub.Close() }

// take processes an event. It runs while the event is being published.
func (t *statuses) take(env lathe.Envelope) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch ev := env.Event.(type) {
	case lathe.SessionDeleted:
		delete(t.of, ev.Session.ID)
	case lathe.SessionStatus:
		if _, idle := ev.Status.(lathe.Idle); idle {
			delete(t.of, ev.SessionID)
		} else {
			t.of[ev.SessionID] = doing{env.Directory, ev.Status}
		}
	}
}

func (t *statuses) in(dir string) map[lathe.SessionID]lathe.Status {
	t.bus.Seq() // this returns when the event being published is done, so whoever has seen it gets what it says
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[lathe.SessionID]lathe.Status{}
	for id, d := range t.of {
		if d.dir == dir {
			out[id] = d.status
		}
	}
	return out
}

// all returns what all sessions that are not idle are doing.
func (t *statuses) all() map[lathe.SessionID]doing {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.of)
}

// Statuses returns what the non-idle sessions of a directory are doing, as
// subscribers were told. That includes waiting to retry, and what other processes do
// in sessions that are followed here. See [Service.Status] for this process alone.
func (s *Service) Statuses(dir string) map[lathe.SessionID]lathe.Status { return s.statuses.in(dir) }
