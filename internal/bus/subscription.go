package bus

import (
	"context"
	"iter"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/rope"
)

const (
	defaultEvents = 4096
	defaultBytes  = 8 << 20
	// lookBack bounds the search for an update that a newer one replaces, and
	// with it the cost of publishing to a subscriber that has fallen behind.
	lookBack = 32
	// lookFar is the bound for a subscription with room for more events than most:
	// one that gathers for many clients.
	lookFar = 1024
	// maxMerge is how large a merged delta may become: beyond it the copies that
	// growing and reading take would cost more than another event.
	maxMerge = 256 << 10
	// maxCounted is what a single part counts at most: a larger one is held by the
	// turn that made it anyway, and must not cost its readers the events around it.
	maxCounted = 1 << 20
	// keepCap is the largest queue that stays allocated while it is empty.
	keepCap = 64
)

// Filter says which events a subscription gets. The zero value means all.
type Filter struct {
	Directory string          // events of this directory and those of the process
	SessionID lathe.SessionID // events of this session only
	// Match, when set, must also be true. It runs inside Publish: it is fast,
	// does not block and does not call the bus.
	Match func(lathe.Event) bool
	// Tap, when set, is given what gets that far instead of the queue, in order
	// and while it is published, under the rules of Match. The subscription has
	// nothing to read then.
	Tap func(lathe.Envelope)
}

func (f *Filter) wants(it *item) bool {
	if f.Directory != "" && it.env.Directory != "" && f.Directory != it.env.Directory {
		return false
	}
	if f.SessionID != "" && f.SessionID != it.session {
		return false
	}
	if f.Match != nil && !f.Match(it.env.Event) {
		return false
	}
	if f.Tap != nil {
		f.Tap(it.env)
		return false
	}
	return true
}

// Limits bound what a subscription may have queued. Zero values mean 4,096
// events and about 8 MiB. A single event may exceed the size on its own.
type Limits struct{ Events, Bytes int }

// Subscription is one reader of the bus. One goroutine at a time may call Next
// or range over All; Close may be called from anywhere, and must be called
// unless the context ends.
type Subscription struct {
	bus    *Bus
	filter Filter
	limits Limits
	stop   func() bool // releases the context; nil when it cannot end
	wake   chan struct{}

	mu     sync.Mutex // taken after Bus.mu, never before
	queue  []item
	head   int
	bytes  int
	newest uint64 // number of the newest event that was queued
	err    error  // why no more will come
}

// item is a queued event. text gathers merged deltas, so that merging n of them
// costs what they hold and not its square.
type item struct {
	env     lathe.Envelope
	session lathe.SessionID
	weight  int
	text    *rope.Text
}

func newSubscription(b *Bus, f Filter, l Limits) *Subscription {
	if l.Events <= 0 {
		l.Events = defaultEvents
	}
	if l.Bytes <= 0 {
		l.Bytes = defaultBytes
	}
	return &Subscription{bus: b, filter: f, limits: l, wake: make(chan struct{}, 1)}
}

// Next waits for the next event. The error is [ErrSlow], [ErrClosed], or the
// cause of the context that ended; after one from the subscription itself every
// later call returns it too.
func (s *Subscription) Next(ctx context.Context) (lathe.Envelope, error) {
	for {
		env, ok, err := s.pop()
		if ok || err != nil {
			return env, err
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return lathe.Envelope{}, context.Cause(ctx)
		}
	}
}

// All yields the events until the subscription ends, then the reason once. It
// closes the subscription when the loop is left.
func (s *Subscription) All() iter.Seq2[lathe.Envelope, error] {
	return func(yield func(lathe.Envelope, error) bool) {
		defer s.Close()
		for {
			env, err := s.Next(context.Background())
			if !yield(env, err) || err != nil {
				return
			}
		}
	}
}

// Newest returns the number of the newest event that was queued for the
// subscription, read or not; 0 before the first.
func (s *Subscription) Newest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest
}

// Close ends the subscription and drops what is queued. It may be called twice.
func (s *Subscription) Close() { s.leave(ErrClosed) }

func (s *Subscription) leave(why error) {
	s.bus.detach(s)
	if s.stop != nil {
		s.stop()
	}
	s.end(why, true)
}

// end records why no more events come; the first reason stays.
func (s *Subscription) end(why error, drop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(why, drop)
}

func (s *Subscription) endLocked(why error, drop bool) {
	if s.err == nil {
		s.err = why
	}
	if drop {
		s.queue, s.head, s.bytes = nil, 0, 0
	}
	s.signal()
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// push queues the event, or ends the subscription and returns false when it
// does not fit.
func (s *Subscription) push(it item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false
	}
	s.newest = it.env.Seq
	if _, ok := it.env.Event.(lathe.PartUpdated); ok {
		it.weight = min(it.weight, maxCounted)
	}
	waiting := len(s.queue) - s.head
	if waiting > 0 {
		if s.mergeDelta(it) {
			return s.fits(s.limits.Bytes)
		}
		s.supersede(it)
	}
	s.compact()
	s.queue = append(s.queue, it)
	s.bytes += it.weight
	if waiting == 0 {
		s.signal()
	}
	return s.fits(max(s.limits.Bytes, it.weight))
}

func (s *Subscription) fits(limit int) bool {
	if len(s.queue)-s.head <= s.limits.Events && s.bytes <= limit {
		return true
	}
	s.endLocked(ErrSlow, true)
	return false
}

// mergeDelta joins a delta to the last queued event when that is a delta of the
// same part. The limit in bytes holds for the result.
func (s *Subscription) mergeDelta(it item) bool {
	d, ok := it.env.Event.(lathe.PartDelta)
	if !ok {
		return false
	}
	last := &s.queue[len(s.queue)-1]
	q, ok := last.env.Event.(lathe.PartDelta)
	if !ok || q.PartID != d.PartID || q.MessageID != d.MessageID || q.SessionID != d.SessionID ||
		last.weight+len(d.Delta) > maxMerge {
		return false
	}
	if last.text == nil {
		last.text = &rope.Text{}
		last.text.Append(q.Delta)
	}
	last.text.Append(d.Delta)
	last.env.Seq, last.env.Time, last.env.Directory = it.env.Seq, it.env.Time, it.env.Directory
	last.weight += len(d.Delta)
	s.bytes += len(d.Delta)
	return true
}

// supersede removes the queued update of the same part that nothing depends on. The
// first one stays: it says where in its message the part stands.
func (s *Subscription) supersede(it item) {
	u, ok := it.env.Event.(lathe.PartUpdated)
	if !ok {
		return
	}
	look := lookBack
	if s.limits.Events > defaultEvents {
		look = lookFar
	}
	for i := len(s.queue) - 1; i >= max(s.head, len(s.queue)-look); i-- {
		q := &s.queue[i]
		if q.session != it.session {
			continue
		}
		part, update := partOf(q.env.Event)
		if part == "" {
			return
		}
		if part != u.Part.ID {
			continue
		}
		if update && !q.env.Event.(lathe.PartUpdated).New {
			s.bytes -= q.weight
			s.queue = slices.Delete(s.queue, i, i+1)
		}
		return
	}
}

// partOf returns the part that an update or a delta is about, and which it is.
func partOf(ev lathe.Event) (id lathe.PartID, update bool) {
	switch ev := ev.(type) {
	case lathe.PartUpdated:
		return ev.Part.ID, true
	case lathe.PartDelta:
		return ev.PartID, false
	}
	return "", false
}

// pop takes the first event. Once the queue is empty it returns the reason for
// the end, if there is one.
func (s *Subscription) pop() (lathe.Envelope, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.head == len(s.queue) {
		return lathe.Envelope{}, false, s.err
	}
	it := s.queue[s.head]
	s.queue[s.head] = item{}
	s.head++
	s.bytes -= it.weight
	if s.head == len(s.queue) {
		s.queue, s.head = s.queue[:0], 0
		if cap(s.queue) > keepCap {
			s.queue = nil
		}
	}
	if it.text != nil {
		d := it.env.Event.(lathe.PartDelta)
		d.Delta = it.text.String()
		it.env.Event = d
	}
	return it.env, true, nil
}

// compact reuses the space of popped events instead of growing the queue.
func (s *Subscription) compact() {
	if len(s.queue) < cap(s.queue) || s.head*2 < len(s.queue) {
		return
	}
	n := copy(s.queue, s.queue[s.head:])
	clear(s.queue[n:])
	s.queue, s.head = s.queue[:n], 0
}
