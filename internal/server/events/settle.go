package events

import (
	"context"
	"sync"
	"time"
)

// settleLimit bounds how long an answer waits for event streams.
const settleLimit = 250 * time.Millisecond

// progress is how far a stream has sent what was queued for it.
type progress struct {
	mu      sync.Mutex
	sent    uint64 // number of the newest event that was flushed
	over    bool   // nothing more will be
	waiting []waiter
}

type waiter struct {
	seq  uint64
	done chan struct{}
}

// reach says that everything up to an event is on its way.
func (p *progress) reach(seq uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = max(p.sent, seq)
	p.wake()
}

// reached reports whether everything up to an event is on its way.
func (p *progress) reached(seq uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over || seq <= p.sent
}

// end releases everybody who is waiting.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.wake()
}

func (p *progress) wake() {
	kept := p.waiting[:0]
	for _, w := range p.waiting {
		if p.over || w.seq <= p.sent {
			close(w.done)
			continue
		}
		kept = append(kept, w)
	}
	p.waiting = kept
}

// wait returns when the event is on its way, or with the context.
func (p *progress) wait(ctx context.Context, seq uint64) {
	p.mu.Lock()
	if p.over || seq <= p.sent {
		p.mu.Unlock()
		return
	}
	w := waiter{seq, make(chan struct{})}
	p.waiting = append(p.waiting, w)
	p.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
	}
}

// place is where one client is in the events that it gets.
type place struct {
	key    fankey
	newest func() uint64 // number of the newest event it will get
	hurry  func()        // what was published goes out now; nil: it always does
	progress
}

// Settle returns when the open streams of a directory have sent what has been
// published, or after [settleLimit]. A client that asked for a turn over one
// connection and follows it over another may leave with the answer (OpenCode
// 1.18's run --attach does), so the events of the turn go first.
func (s *Streams) Settle(ctx context.Context, dir string) {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	for _, p := range s.followers(dir) {
		seq := p.newest()
		if p.hurry != nil && !p.reached(seq) {
			p.hurry()
		}
		p.wait(ctx, seq)
	}
}

func (s *Streams) followers(dir string) []*place {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*place
	for p := range s.places {
		if p.key.global || p.key.dir == dir {
			out = append(out, p)
		}
	}
	return out
}

// follow makes a client known to Settle until the function it returns is called.
func (s *Streams) follow(p *place) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places[p] = struct{}{}
	return func() {
		s.mu.Lock()
		delete(s.places, p)
		s.mu.Unlock()
		p.end()
	}
}
