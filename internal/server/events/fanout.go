package events

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"lathe/internal/bus"
	"lathe/internal/opencode/wire"
	"lathe/internal/server/gate"
)

const (
	// fanoutKeep bounds what is kept for clients that are behind the others. Below
	// fanoutIdle nobody checks whether it is still needed.
	fanoutKeep, fanoutIdle = 32 << 20, 256 << 10
	// fanoutCounted is what one piece counts at most: the text of a larger one is held
	// by the turn that made it, and must not cost those who read it their place.
	fanoutCounted = 8 << 20
	// fanoutQueue bounds the events that wait to be encoded, in number and size.
	fanoutEvents, fanoutBytes = 1 << 16, 64 << 20
	// Beyond crowd clients, events are held back briefly for each additional
	// one, up to maxPause: whatever is superseded in the meantime is not sent.
	crowd    = 32
	maxPause = 250 * time.Millisecond
)

// fanout makes the frames of a stream once for all clients that asked for the
// same: an event costs its encoding once, and one copy into each client's
// socket. Clients read a common log at their own pace; one that falls too far
// behind loses its place and is closed, and may resume.
type fanout struct {
	s    *Streams
	key  fankey
	stop context.CancelFunc
	sub  *bus.Subscription

	mu        sync.Mutex
	log       []wire.Output // pieces of the stream, oldest first
	base      int           // number of the first
	size      int
	wake      chan struct{} // closed when log grows or ends
	why       error         // why nothing more will come
	members   map[*member]struct{}
	joining   []*member
	interrupt context.CancelFunc // ends the wait of the one that encodes
	flushed   time.Time          // when the log grew last
	taken     uint64             // number of the newest event that is in the log
	hurried   bool               // somebody is waiting for what was published
}

// fankey is what clients of one fanout have in common.
type fankey struct {
	dir                 string
	global, deltas, ids bool
}

// member is the place of one client.
type member struct {
	f     *fanout
	next  int
	in    bool          // next is known
	ready chan struct{} // closed then
	at    string        // where it begins
	place *place
	gone  func() // ends the place
}

// fanouts are those that have members.
type fanouts struct {
	mu sync.Mutex
	by map[fankey]*fanout
}

// errOver ends the streams of an instance that was disposed.
var errOver = errors.New("the stream is over")

// join makes a client a member. It gets everything published after join has
// returned, and possibly some of what was published since it was called.
func (s *Streams) join(ctx context.Context, key fankey, f bus.Filter) (*member, error) {
	m := &member{ready: make(chan struct{})}
	m.place = &place{key: key}
	s.fanouts.mu.Lock()
	m.f = s.fanouts.by[key]
	if m.f == nil || !m.f.enroll(m) {
		m.f = s.newFanout(key, f)
		m.f.enroll(m)
	}
	s.fanouts.mu.Unlock()
	select {
	case <-m.ready:
		m.place.newest, m.place.hurry = m.f.sub.Newest, m.f.hurry
		m.gone = s.follow(m.place)
		return m, nil
	case <-ctx.Done():
		m.leave()
		return nil, context.Cause(ctx)
	}
}

// newFanout starts one. The caller holds the lock of the fanouts.
func (s *Streams) newFanout(key fankey, filter bus.Filter) *fanout {
	ctx, stop := context.WithCancel(s.ctx)
	f := &fanout{s: s, key: key, stop: stop, wake: make(chan struct{}), members: map[*member]struct{}{}}
	s.fanouts.by[key] = f
	sub, from, number := s.o.Bus.SubscribeNow(ctx, filter, bus.Limits{Events: fanoutEvents, Bytes: fanoutBytes})
	f.sub = sub
	s.wg.Go(func() {
		defer f.sub.Close()
		st := newStream(s, key)
		st.taken, st.number = from, number
		st.fan, st.sink, st.reach = f, f.publish, f.reached
		err := st.run(ctx, f.sub)
		if err == nil {
			err = errOver
		}
		f.end(err)
	})
	return f
}

// enroll notes that a client is waiting to come in; it reports false after the end.
func (f *fanout) enroll(m *member) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why != nil {
		return false
	}
	f.members[m] = struct{}{}
	f.joining = append(f.joining, m)
	if f.interrupt != nil {
		f.interrupt()
	}
	return true
}

// admit lets in the waiting clients, after everything published so far.
func (f *fanout) admit(st *stream) error {
	f.mu.Lock()
	waiting := len(f.joining) > 0
	f.mu.Unlock()
	if waiting {
		if err := st.release(time.Time{}, true); err != nil {
			return err
		}
	}
	if err := st.flush(); err != nil || !waiting {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.admitLocked(st.begins())
	return nil
}

func (f *fanout) admitLocked(at string) {
	for _, m := range f.joining {
		m.next, m.in, m.at = f.base+len(f.log), true, at
		close(m.ready)
	}
	f.joining = nil
}

// pause holds events back while there is a crowd, so that events close together
// are sent together.
func (f *fanout) pause(ctx context.Context) {
	f.mu.Lock()
	d := min(time.Duration(len(f.members)-crowd)*maxPause/1000, maxPause)
	until := f.flushed.Add(d)
	f.mu.Unlock()
	if d <= 0 || !time.Now().Before(until) {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if f.waits(cancel) {
		<-ctx.Done()
	}
}

// waits notes how a wait is ended; it reports false when there is no time to wait.
func (f *fanout) waits(cancel context.CancelFunc) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.interrupt = cancel
	return len(f.joining) == 0 && !f.hurried
}

// hurry ends a pause: somebody waits for what was published.
func (f *fanout) hurry() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hurried = true
	if f.interrupt != nil {
		f.interrupt()
	}
}

// reached notes how far the log is.
func (f *fanout) reached(taken uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hurried = false
	if f.taken != taken {
		f.taken = taken
		f.signal()
	}
}

// publish adds a piece to the log. It never fails.
func (f *fanout) publish(piece wire.Output) error {
	if _, ok := piece.Whole(); ok {
		piece = piece.Wrap(nil, nil) // the bytes are used again
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flushed = time.Now()
	f.log = append(f.log, piece)
	f.size += keptSize(piece)
	if f.size > fanoutIdle {
		f.trim()
	}
	f.signal()
	return nil
}

func keptSize(piece wire.Output) int { return min(piece.Held(), fanoutCounted) }

// trim drops what everybody has, and what is too much to keep for those behind.
func (f *fanout) trim() {
	needed := f.base + len(f.log)
	for m := range f.members {
		if m.in {
			needed = min(needed, m.next)
		}
	}
	drop := 0
	for f.base+drop < needed || f.size > fanoutKeep && drop < len(f.log)-1 {
		f.size -= keptSize(f.log[drop])
		drop++
	}
	clear(f.log[:drop])
	f.log, f.base = f.log[drop:], f.base+drop
}

// end ends the streams of all members, after what is in the log.
func (f *fanout) end(why error) {
	f.stop()
	f.s.fanouts.mu.Lock()
	defer f.s.fanouts.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.why = why
	if f.s.fanouts.by[f.key] == f {
		delete(f.s.fanouts.by, f.key)
	}
	f.admitLocked("")
	f.signal()
}

func (f *fanout) signal() {
	close(f.wake)
	f.wake = make(chan struct{})
}

// leave gives the place up; the last one ends the fanout.
func (m *member) leave() {
	f := m.f
	if m.gone != nil {
		m.gone()
	}
	f.s.fanouts.mu.Lock()
	defer f.s.fanouts.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.members, m)
	if len(f.members) > 0 {
		return
	}
	f.stop()
	if f.why == nil {
		f.why = bus.ErrClosed
	}
	if f.s.fanouts.by[f.key] == f {
		delete(f.s.fanouts.by, f.key)
	}
}

// take returns the next piece, or the number of the newest event in earlier
// pieces and a channel to wait on, or the reason why there are no more.
func (m *member) take() (piece *wire.Output, taken uint64, wake <-chan struct{}, err error) {
	f := m.f
	f.mu.Lock()
	defer f.mu.Unlock()
	switch i := m.next - f.base; {
	case i < 0:
		return nil, 0, nil, bus.ErrSlow
	case i < len(f.log):
		m.next++
		out := f.log[i]
		return &out, 0, nil, nil
	case f.why != nil:
		return nil, f.taken, nil, f.why
	}
	if f.size > fanoutIdle {
		f.trim()
	}
	return nil, f.taken, f.wake, nil
}

// copy sends what comes until the client leaves or the stream ends.
func (m *member) copy(ctx context.Context, w http.ResponseWriter) error {
	rc := http.NewResponseController(w)
	dirty := false
	for {
		piece, taken, wake, err := m.take()
		if piece == nil && dirty {
			dirty = false
			if err := rc.Flush(); err != nil {
				return err
			}
		}
		switch {
		case err != nil:
			return err
		case piece == nil:
			m.place.reach(taken)
			select {
			case <-wake:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		default:
			dirty = true
			_ = rc.SetWriteDeadline(gate.WriteUntil(piece.Size()))
			if _, err := piece.WriteTo(w); err != nil {
				return err
			}
		}
	}
}
