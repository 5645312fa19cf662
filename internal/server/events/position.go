package events

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/opencode/wire"
	"lathe/internal/store"
)

// A client says where it was with the id of the last event that it has. Where several
// servers share a store, events that concern them all are numbered by its journal, and
// their id is the same on each server:
//
//	JOURNAL-NUMBER
//
// What only this process tells, and text as it streams, follows a numbered event:
//
//	JOURNAL-NUMBER.EPOCH-SEQ
//
// The server that gave such an id goes on exactly there. Another one goes on after the
// numbered event, and begins with the whole of each text that is streaming. Where there is
// no journal an id is EPOCH-SEQ.

// Journal is what is known of the events of all servers that share a store; a
// [store.Journal] is one.
type Journal interface {
	Name() string
	Between(ctx context.Context, after, upTo int64) ([]store.Fact, error)
}

// position is where a client is.
type position struct {
	seq    uint64 // in this process; 0: not known here
	number int64  // in the journal; 0: there is none, or nothing was numbered yet
}

// Here returns the id of the newest event: who has read something knows what happened up to
// that.
func (s *Streams) Here() string {
	seq, number := s.o.Bus.At()
	return s.id(position{seq, number}, false)
}

// id returns the id of an event of this process that comes after a numbered one, or is it.
func (s *Streams) id(p position, numbered bool) string {
	own := s.o.Epoch + "-" + strconv.FormatUint(p.seq, 10)
	journal := s.journalName()
	if journal == "" || p.number == 0 {
		return own
	}
	id := journal + "-" + strconv.FormatInt(p.number, 10)
	if numbered {
		return id
	}
	return id + "." + own
}

func (s *Streams) journalName() string {
	if s.o.Journal == nil {
		return ""
	}
	return s.o.Journal.Name()
}

// parse reads an id. It reports false for one that means nothing here.
func (s *Streams) parse(id string) (p position, ok bool) {
	shared, own, both := strings.Cut(id, ".")
	if !both {
		own = id
	}
	journal := s.journalName()
	if n, known := strings.CutPrefix(shared, journal+"-"); known && journal != "" {
		if p.number, _ = strconv.ParseInt(n, 10, 64); p.number < 0 {
			p.number = 0
		}
	}
	if n, mine := strings.CutPrefix(own, s.o.Epoch+"-"); mine {
		var err error
		p.seq, err = strconv.ParseUint(n, 10, 64)
		return p, err == nil
	}
	return p, p.number > 0
}

// begins returns the id of where a new client begins, "" without a journal: then only what
// followed would help it.
func (st *stream) begins() string {
	if st.s.journalName() == "" {
		return ""
	}
	return st.id(st.taken, false)
}

// catchUp is how long a client waits until this server has read what another had told it.
const catchUp = 5 * time.Second

// past is what a client gets before the events of its subscription.
type past struct {
	facts []store.Fact
	at    position // where the subscription begins
	texts bool     // it has to be sent the texts that are open there
}

// from returns the events after a position. The error is [bus.ErrGone] if they are no
// longer to be had.
func (s *Streams) from(ctx context.Context, p position, f bus.Filter) (*bus.Subscription, past, error) {
	if p.seq > 0 || p.number == 0 {
		sub, err := s.o.Bus.SubscribeFrom(ctx, p.seq, f, bus.Limits{})
		return sub, past{at: p}, err
	}
	if err := s.reach(ctx, p.number); err != nil {
		return nil, past{}, err
	}
	sub, seq, err := s.o.Bus.SubscribeAfter(ctx, p.number, f, bus.Limits{})
	if err == nil {
		return sub, past{at: position{seq, p.number}, texts: true}, nil
	}
	sub, seq, upTo := s.o.Bus.SubscribeNow(ctx, f, bus.Limits{})
	facts, err := s.o.Journal.Between(ctx, p.number, upTo)
	if err != nil {
		sub.Close()
		if errors.Is(err, store.ErrNotFound) {
			err = bus.ErrGone
		}
		return nil, past{}, err
	}
	out := past{at: position{seq, upTo}, texts: true}
	for _, fact := range facts {
		if f.Directory == "" || fact.Directory == "" || fact.Directory == f.Directory {
			out.facts = append(out.facts, fact)
		}
	}
	return sub, out, nil
}

// reach returns when this server has published what has a number.
func (s *Streams) reach(ctx context.Context, number int64) error {
	sub, _, last := s.o.Bus.SubscribeNow(ctx, bus.Filter{}, bus.Limits{})
	defer sub.Close()
	ctx, cancel := context.WithTimeout(ctx, catchUp)
	defer cancel()
	for last < number {
		env, err := sub.Next(ctx)
		if err != nil {
			return bus.ErrGone
		}
		last = max(last, env.Number)
	}
	return nil
}

// streaming is a text that streams, as of an event.
type streaming struct {
	dir  string
	part lathe.Part
	text wire.Text
	kept *openPart
}

// streamingAt returns the texts that were open after an event.
func (l *live) streamingAt(seq uint64, dir string) (out []streaming) {
	l.bus.Seq() // this returns when the event being published is done
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.parts {
		end, ok := p.marks.at(seq)
		if !ok || p.closed && p.closedAt <= seq || dir != "" && p.dir != "" && p.dir != dir {
			continue
		}
		out = append(out, streaming{p.dir, p.part, p.upTo(end), p})
	}
	return out
}

// whole is the event for a text that a client may have in part.
func (t *streaming) whole() lathe.PartUpdated {
	p := t.part
	p.Body = withText(p.Body, t.text.String())
	return lathe.PartUpdated{Part: p}
}

// catchUp sends what a client gets before its subscription.
func (st *stream) catchUp(p past) error {
	for _, f := range p.facts {
		st.number = f.Number
		env := lathe.Envelope{Number: f.Number, Time: time.Now(), Directory: f.Directory, Event: f.Event}
		id := fmt.Sprintf("%s_%012x%s", lathe.PrefixEvent, f.Number, st.s.journalName())
		if err := st.framed(env, wire.EncodeStream(f.Event, id, env.Time)); err != nil {
			return err
		}
	}
	st.number = p.at.number
	if !p.texts {
		return nil
	}
	for _, t := range st.s.live.streamingAt(p.at.seq, st.key.dir) {
		for _, raw := range wire.EncodeStream(t.whole(), st.s.frameID(p.at.seq), time.Now()) {
			if err := st.frame("", t.dir, raw); err != nil {
				return err
			}
		}
		msg := lathe.PartDelta{SessionID: t.part.SessionID, MessageID: t.part.MessageID, PartID: t.part.ID}
		st.parts[t.part.ID] = &sending{open: t.kept, sent: t.text.Len(), all: t.text.Len(), msg: msg}
	}
	return st.flush()
}
