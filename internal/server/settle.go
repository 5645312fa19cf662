package server

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

// end lets go of everybody who waits.
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

// settle returns when the open streams of a directory have sent what has been
// published, or after [settleLimit]. A client that asked for a turn over one
// connection and follows it over another may leave with the answer (OpenCode
// 1.18's run --attach does), so the events of the turn go first.
func (s *Server) settle(ctx context.Context, dir string) {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	for _, st := range s.streamsOf(dir) {
		st.progress.wait(ctx, st.sub.Newest())
	}
}

// settle is [Server.settle] for the session of a request.
func (c *call) settle() {
	if sess, err := c.session(); err == nil {
		c.s.settle(c.ctx(), sess.Directory)
	}
}

func (s *Server) streamsOf(dir string) []*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*stream
	for st := range s.streams {
		if st.global || st.dir == dir {
			out = append(out, st)
		}
	}
	return out
}

// join makes a stream known to settle until the function it returns is called.
func (s *Server) join(st *stream) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[st] = struct{}{}
	return func() {
		s.mu.Lock()
		delete(s.streams, st)
		s.mu.Unlock()
		st.progress.end()
	}
}
