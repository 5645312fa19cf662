package events

import (
	"context"
	"sync"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/opencode/wire"
	"lathe/internal/rope"
)

// Long texts are sent without copies of their pieces.
var _ wire.Piecer = (*rope.Text)(nil)

// live follows the bus and knows the text of every open part at every event. Streams
// share it: however many there are, a text is kept once, and a stream that joins in
// the middle of a part still has the whole.
type live struct {
	bus *bus.Bus
	sub *bus.Subscription

	mu    sync.Mutex
	seen  uint64 // number of the newest event taken in
	parts map[lathe.PartID]*openPart

	memory memory
}

// openPart is a part whose text grows. A part that has closed is kept until its
// session is idle, for streams that are not so far yet.
type openPart struct {
	part   lathe.Part
	done   string         // text that the closed part holds anyway
	rest   lathe.Streamed // what follows it; the writer's own if that is known
	own    *rope.Text     // rest, if nobody else keeps it
	size   int
	marks  marks
	closed bool

	dir      string
	closedAt uint64 // number of the event that closed it
}

// add adds a delta.
func (o *openPart) add(seq uint64, d lathe.PartDelta) {
	if o.rest == nil && d.Whole != nil {
		o.rest = d.Whole
	}
	o.size += len(d.Delta)
	o.marks.add(seq, o.size)
	if o.rest == nil {
		o.keep("")
	}
	if o.own != nil {
		o.own.Append(d.Delta)
	}
}

// keep stores the rest of the text here.
func (o *openPart) keep(rest string) {
	o.own = &rope.Text{}
	o.own.Append(rest)
	o.rest = o.own
}

// upTo returns the text up to an offset, where it stands.
func (o *openPart) upTo(end int) wire.Text {
	if end <= len(o.done) || o.rest == nil {
		return wire.TextOf(o.done[:min(end, len(o.done))])
	}
	return append(wire.TextOf(o.done), wire.Span{Of: o.rest, To: end - len(o.done), Growing: true})
}

// close notes that the part has closed with a text, which others hold too, so that
// it need not be kept twice.
func (o *openPart) close(text string) {
	o.closed = true
	if o.done != "" || o.rest == nil || len(text) > o.size || !o.rest.HasPrefix(text) {
		return
	}
	o.keep(o.rest.Slice(len(text), o.size))
	o.done = text
}

// newLive taps the bus at once, so that nothing published later is missed. Close
// it.
func newLive(b *bus.Bus) *live {
	l := &live{bus: b, parts: map[lathe.PartID]*openPart{}}
	l.sub = b.Subscribe(context.Background(), bus.Filter{Match: relevant, Tap: l.take}, bus.Limits{})
	return l
}

func relevant(ev lathe.Event) bool {
	switch ev.(type) {
	case lathe.PartDelta, lathe.PartUpdated, lathe.PartRemoved, lathe.SessionStatus:
		return true
	}
	return false
}

func (l *live) close() {
	l.sub.Close()
	l.memory.end()
}

// take processes an event. It runs while the event is being published.
func (l *live) take(env lathe.Envelope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = env.Seq
	switch ev := env.Event.(type) {
	case lathe.PartUpdated:
		l.update(env, ev.Part)
	case lathe.PartDelta:
		if p := l.parts[ev.PartID]; p != nil {
			p.add(env.Seq, ev)
		}
	case lathe.PartRemoved:
		delete(l.parts, ev.PartID)
	case lathe.SessionStatus:
		if _, idle := ev.Status.(lathe.Idle); idle {
			l.forget(ev.SessionID)
		}
	}
}

// forget drops the parts of a session that is idle. The caller holds mu.
func (l *live) forget(id lathe.SessionID) {
	size := 0
	for part, p := range l.parts {
		if p.part.SessionID == id {
			size += p.size
			delete(l.parts, part)
		}
	}
	l.memory.idle(size)
}

func (l *live) update(env lathe.Envelope, p lathe.Part) {
	text, open := openText(p.Body)
	if !open {
		if o := l.parts[p.ID]; o != nil {
			o.closedAt = env.Seq
			o.close(text)
		}
		return
	}
	o := &openPart{part: p, size: len(text), dir: env.Directory}
	o.marks.add(env.Seq, len(text))
	if text != "" {
		o.keep(text)
	}
	l.parts[p.ID] = o
}

// openText returns the text of a part that may still grow.
func openText(b lathe.PartBody) (string, bool) {
	switch b := b.(type) {
	case *lathe.Text:
		return b.Text, b.Time.End.IsZero() && !b.Time.Start.IsZero()
	case *lathe.Reasoning:
		return b.Text, b.Time.End.IsZero()
	}
	return "", false
}

// at returns a part and how long its text was after an event of that part; nil for
// a part that is no longer kept.
func (l *live) at(id lathe.PartID, seq uint64) (*openPart, int) {
	if !l.has(seq) {
		l.bus.Seq() // this returns when the event being published is done
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parts[id]
	if p == nil {
		return nil, 0
	}
	end, ok := p.marks.at(seq)
	if !ok {
		return nil, 0
	}
	return p, end
}

// text returns a part found by [live.at] with its text as of an event, and whether
// it is still kept; if not, its turn is over.
func (l *live) text(id lathe.PartID, p *openPart, seq uint64) (lathe.Part, wire.Text, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end, _ := p.marks.at(seq)
	return p.part, p.upTo(end), l.parts[id] == p
}

func (l *live) has(seq uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen >= seq
}

// overlay puts the text that streamed so far into the open parts of messages
// that were just read.
func (l *live) overlay(messages []lathe.Message) {
	l.bus.Seq() // this returns when the event being published is done, so whoever has seen it gets what it says
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.parts) == 0 {
		return
	}
	for i := range messages {
		for j, p := range messages[i].Parts {
			if _, open := openText(p.Body); !open {
				continue
			}
			if o := l.parts[p.ID]; o != nil && !o.closed {
				messages[i].Parts[j].Body = withText(p.Body, o.upTo(o.size).String())
			}
		}
	}
}

// withText returns a copy of a text or reasoning part with another text.
func withText(b lathe.PartBody, text string) lathe.PartBody {
	switch b := b.(type) {
	case *lathe.Text:
		c := *b
		c.Text = text
		return &c
	case *lathe.Reasoning:
		c := *b
		c.Text = text
		return &c
	}
	return b
}
