// Package bus is the ordered event stream of a process. Publishing never waits
// for a subscriber; a subscriber pulls from a bounded queue of its own.
//
// # Order
//
// Every subscriber sees the events it asked for in the order they were
// published, by ascending [lathe.Envelope.Seq]. Two things shorten a queue, and
// neither moves an event past another:
//
//   - A [lathe.PartDelta] joins the queued event before it when that is a delta
//     of the same part. The result carries the newer Seq and time, so that
//     resuming after it neither repeats nor loses text.
//   - A [lathe.PartUpdated] takes the place of an older one of the same part
//     that is not New, when every event of its session queued since then is an update or delta
//     of another part. Anything else (an ask that names the tool call, a
//     message that ends, a delta of the part itself) may depend on the older
//     one, which then stays. The newer event keeps its own place and Seq.
//
// A subscriber whose queue is full all the same gets [ErrSlow] and nothing
// more: it reads the state from the store and subscribes again.
package bus

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"lathe"
)

// Errors that end or refuse a subscription.
var (
	// ErrSlow means the subscriber fell behind and lost events.
	ErrSlow = errors.New("subscriber is too slow: read the session again and subscribe again")
	// ErrClosed means the bus or the subscription was closed.
	ErrClosed = errors.New("event stream is closed")
	// ErrGone means the events asked for are no longer kept.
	ErrGone = errors.New("events are no longer kept: read the session again and subscribe again")
)

const (
	defaultKeep      = 1024
	defaultKeepBytes = 4 << 20
)

// Options configure a [Bus]. Zero values mean the defaults.
type Options struct {
	Now       func() time.Time // time.Now
	Keep      int              // newest events kept for SubscribeFrom: 1024; negative keeps none
	KeepBytes int              // and their approximate size: 4 MiB
}

// Bus hands events to subscribers. Use [New].
type Bus struct {
	now  func() time.Time
	mu   sync.Mutex // guards what follows, and orders Publish
	seq  uint64
	last int64 // highest number of a journal that was published
	subs map[*Subscription]struct{}
	ring ring
	shut bool
}

// New returns a bus without subscribers. It owns no goroutine.
func New(o Options) *Bus {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Keep == 0 {
		o.Keep = defaultKeep
	}
	if o.KeepBytes == 0 {
		o.KeepBytes = defaultKeepBytes
	}
	return &Bus{
		now:  o.Now,
		subs: map[*Subscription]struct{}{},
		ring: ring{keep: max(o.Keep, 0), keepBytes: o.KeepBytes},
	}
}

// Publish sends the event to every subscriber that wants it and returns its
// sequence number, or 0 once the bus is closed. The event, and what it points
// to, must not be changed afterwards.
func (b *Bus) Publish(dir string, ev lathe.Event) uint64 { return b.PublishNumbered(dir, ev, 0) }

// PublishNumbered is Publish for an event that has a number in a journal; see
// [lathe.Envelope]. Numbers rise. After [lathe.EventsMissed] nobody can resume from an
// earlier event.
func (b *Bus) PublishNumbered(dir string, ev lathe.Event, number int64) uint64 {
	return b.publish(lathe.Envelope{Directory: dir, Event: ev, Number: number})
}

// Relay is PublishNumbered for what another server did.
func (b *Bus) Relay(dir string, ev lathe.Event, number int64) uint64 {
	return b.publish(lathe.Envelope{Directory: dir, Event: ev, Number: number, Elsewhere: true})
}

func (b *Bus) publish(env lathe.Envelope) uint64 {
	ev := env.Event
	it := item{weight: weigh(ev), session: lathe.SessionOf(ev)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return 0
	}
	b.seq++
	env.Seq, env.Time = b.seq, b.now()
	it.env = env
	b.last = max(b.last, env.Number)
	b.ring.add(it)
	if _, missed := ev.(lathe.EventsMissed); missed {
		b.ring.forget()
	}
	for s := range b.subs {
		if s.filter.wants(&it) && !s.push(it) {
			delete(b.subs, s)
		}
	}
	return b.seq
}

// Reached notes that everything up to a number of a journal was published, or is of no
// concern here.
func (b *Bus) Reached(number int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, number)
}

// At returns the number of the newest event, and the highest number of a journal.
func (b *Bus) At() (seq uint64, number int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq, b.last
}

// Seq returns the number of the newest event, 0 before the first.
func (b *Bus) Seq() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

// Subscribe returns a subscription to the events published from now on. It ends
// with the context, with [Subscription.Close] or with the bus.
func (b *Bus) Subscribe(ctx context.Context, f Filter, l Limits) *Subscription {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attach(ctx, newSubscription(b, f, l))
}

// SubscribeFrom is Subscribe with the events after the one numbered after in
// front. It returns [ErrGone] when some of them are no longer kept, do not fit
// the limits, or never were (a number of another process).
func (b *Bus) SubscribeFrom(ctx context.Context, after uint64, f Filter, l Limits) (*Subscription, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept, ok := b.ring.after(after, b.seq)
	if !ok {
		return nil, ErrGone
	}
	s := newSubscription(b, f, l)
	for i := range kept {
		if f.wants(&kept[i]) && !s.push(kept[i]) {
			return nil, ErrGone
		}
	}
	return b.attach(ctx, s), nil
}

// SubscribeAfter is SubscribeFrom with the number of an event in a journal. It returns
// the sequence number that the events follow too. The error is [ErrGone] as well if that
// event was not published yet.
func (b *Bus) SubscribeAfter(ctx context.Context, number int64, f Filter, l Limits) (s *Subscription, from uint64, err error) {
	b.mu.Lock()
	from, ok := b.ring.numbered(number)
	ok = ok && number <= b.last
	b.mu.Unlock()
	if !ok {
		return nil, 0, ErrGone
	}
	s, err = b.SubscribeFrom(ctx, from, f, l)
	return s, from, err
}

// SubscribeNow is Subscribe that says after which event the subscription begins, and the
// highest number of a journal until then.
func (b *Bus) SubscribeNow(ctx context.Context, f Filter, l Limits) (s *Subscription, from uint64, number int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attach(ctx, newSubscription(b, f, l)), b.seq, b.last
}

// attach registers the subscription. The caller holds b.mu.
func (b *Bus) attach(ctx context.Context, s *Subscription) *Subscription {
	if b.shut {
		s.end(ErrClosed, false)
		return s
	}
	b.subs[s] = struct{}{}
	if ctx.Done() != nil {
		s.stop = context.AfterFunc(ctx, func() { s.leave(context.Cause(ctx)) })
	}
	return s
}

func (b *Bus) detach(s *Subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.subs, s)
}

// Close ends all subscriptions with [ErrClosed], after what they have queued.
// Later events are dropped. It may be called twice.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true
	for s := range b.subs {
		s.end(ErrClosed, false)
	}
	clear(b.subs)
	b.ring = ring{}
}

// ring keeps the newest events, bounded in number and size.
type ring struct {
	keep, keepBytes int
	items           []item
	head, bytes     int
}

func (r *ring) add(it item) {
	if r.keep == 0 {
		return
	}
	r.items = append(r.items, it)
	r.bytes += it.weight
	for len(r.items)-r.head > r.keep || (r.bytes > r.keepBytes && len(r.items)-r.head > 0) {
		r.bytes -= r.items[r.head].weight
		r.items[r.head] = item{}
		r.head++
	}
	if r.head > r.keep {
		r.items = append(r.items[:0], r.items[r.head:]...)
		clear(r.items[len(r.items):cap(r.items)])
		r.head = 0
	}
}

// forget drops all that is kept.
func (r *ring) forget() { r.items, r.head, r.bytes = nil, 0, 0 }

// numbered returns the sequence number of the newest kept event whose number in the
// journal is at most the given one.
func (r *ring) numbered(number int64) (seq uint64, ok bool) {
	for _, it := range slices.Backward(r.items[r.head:]) {
		if n := it.env.Number; n > 0 && n <= number {
			return it.env.Seq, true
		}
	}
	return 0, false
}

// after returns the kept items that follow seq, and whether that is all of them.
func (r *ring) after(seq, newest uint64) ([]item, bool) {
	if seq > newest {
		return nil, false
	}
	n := newest - seq
	kept := r.items[r.head:]
	if n > uint64(len(kept)) {
		return nil, false
	}
	return kept[uint64(len(kept))-n:], true
}
