package events

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/bus"
	"lathe/internal/opencode/wire"
	"lathe/internal/server/gate"
)

// Follow yields the events of a directory to a face in the same process, after
// the one numbered after, or from now on when that is 0. The first pair has no
// event: its Seq is the number that the events follow. The error is
// [bus.ErrGone] when they are no longer kept, [api.ErrLost] when the reader fell
// behind, else the end of the subscription.
func (s *Streams) Follow(ctx context.Context, dir string, after uint64) iter.Seq2[lathe.Envelope, error] {
	return func(yield func(lathe.Envelope, error) bool) {
		sub, at, err := s.subscribeAfter(ctx, dir, after)
		if err != nil {
			yield(lathe.Envelope{}, err)
			return
		}
		defer sub.Close()
		if !yield(lathe.Envelope{Seq: at.seq, Number: at.number}, nil) {
			return
		}
		for env, err := range sub.All() {
			if _, missed := env.Event.(lathe.EventsMissed); missed || errors.Is(err, bus.ErrSlow) {
				err = api.ErrLost
			}
			if !yield(s.measured(env), err) || err != nil {
				return
			}
		}
	}
}

// subscribeAfter subscribes to what follows a number, the newest one for 0, and
// returns it.
func (s *Streams) subscribeAfter(ctx context.Context, dir string, after uint64) (sub *bus.Subscription, at position, err error) {
	f := bus.Filter{Directory: dir}
	if after == 0 {
		sub, at.seq, at.number = s.o.Bus.SubscribeNow(ctx, f, bus.Limits{})
		return sub, at, nil
	}
	sub, err = s.o.Bus.SubscribeFrom(ctx, after, f, bus.Limits{})
	return sub, position{seq: after}, err
}

// measured adds to a delta where it ends, so that a reader who already has some
// of the text can tell.
func (s *Streams) measured(env lathe.Envelope) lathe.Envelope {
	if d, ok := env.Event.(lathe.PartDelta); ok && d.End == 0 {
		d.End = s.live.end(d.PartID, env.Seq)
		env.Event = d
	}
	return env
}

// end returns how long a part's text was after an event, 0 when it is not kept.
func (l *live) end(id lathe.PartID, seq uint64) int {
	if !l.has(seq) {
		l.bus.Seq() // this returns when the event being published is done
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parts[id]
	if p == nil {
		return 0
	}
	end, _ := p.marks.at(seq)
	return end
}

// ServeOwn answers a request by one of lathe's own faces for the events of a
// directory: nothing is left out or repeated. The first frame has the number that the
// others follow and says whether the stream continues where the client was. The error
// is [bus.ErrSlow] if the client was too slow.
func (s *Streams) ServeOwn(w http.ResponseWriter, r *http.Request, dir string) error {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{})
	c := &request{s, w, r}
	sub, missed, resumed, err := c.subscribeOwn(dir)
	if err != nil {
		return err
	}
	defer sub.Close()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &ownStream{s: s, w: w, rc: rc, pace: paceOf(r), dir: dir}
	err = out.begin(missed, resumed)
	if err == nil {
		err = out.run(r.Context(), sub)
	}
	return err
}

// maxPace bounds how long a client may let texts gather.
const maxPace = time.Second

// paceOf returns how long the client lets text gather after it was sent some: a person
// reads no faster when each token comes by itself.
func paceOf(r *http.Request) time.Duration {
	ms, err := strconv.ParseUint(r.URL.Query().Get("pace"), 10, 32)
	if err != nil {
		return 0
	}
	return min(time.Duration(ms)*time.Millisecond, maxPace)
}

// subscribeOwn resumes where the client says it was, if that is possible.
func (c *request) subscribeOwn(dir string) (sub *bus.Subscription, missed past, resumed bool, err error) {
	ctx := c.r.Context()
	if p, ok := c.s.parse(c.last()); ok && p != (position{}) {
		if sub, missed, err = c.s.from(ctx, p, bus.Filter{Directory: dir}); err == nil {
			return sub, missed, true, nil
		}
	}
	sub, at, err := c.s.subscribeAfter(ctx, dir, 0)
	return sub, past{at: at}, false, err
}

// ownStream writes frames. What is queued goes out in one piece.
type ownStream struct {
	s   *Streams
	w   http.ResponseWriter
	rc  *http.ResponseController
	buf bytes.Buffer
	dir string // whose events they are; "": all

	number int64 // in the journal, of the newest event that has one

	pace  time.Duration // 0: everything goes out at once
	delta bool          // what went out last was a piece of a text
}

const ownFlush = 64 << 10

// begin says where the stream begins, and sends what the client missed.
func (o *ownStream) begin(p past, resumed bool) error {
	err := o.put(p.at, connected(strconv.FormatBool(resumed)))
	for _, f := range p.facts {
		env := lathe.Envelope{Seq: p.at.seq, Number: f.Number, Time: time.Now(), Directory: f.Directory, Event: f.Event}
		if ev, ok := wire.EncodeOwnEvent(env); ok && err == nil {
			err = o.put(position{p.at.seq, f.Number}, ev)
		}
	}
	o.number = p.at.number
	if !p.texts {
		return err
	}
	for _, t := range o.s.live.streamingAt(p.at.seq, o.dir) {
		env := lathe.Envelope{Seq: p.at.seq, Time: time.Now(), Directory: t.dir, Event: t.whole()}
		if ev, ok := wire.EncodeOwnEvent(env); ok && err == nil {
			err = o.put(p.at, ev)
		}
	}
	return err
}

// put writes a frame; one with a long text goes out at once.
func (o *ownStream) put(at position, ev wire.Output) error {
	if at != (position{}) {
		fmt.Fprintf(&o.buf, "id: %s\n", o.s.id(at, false))
	}
	o.buf.WriteString("data: ")
	raw, ok := ev.Whole()
	if !ok {
		frame := ev.Wrap(o.buf.Bytes(), frameEnd)
		o.buf.Reset()
		return o.send(frame)
	}
	o.buf.Write(raw)
	o.buf.Write(frameEnd)
	if o.buf.Len() > ownFlush {
		return o.flush()
	}
	return nil
}

func (o *ownStream) send(out wire.Output) error {
	_ = o.rc.SetWriteDeadline(gate.WriteUntil(out.Size()))
	if _, err := out.WriteTo(o.w); err != nil {
		return err
	}
	return o.rc.Flush()
}

func (o *ownStream) flush() error {
	if o.buf.Len() == 0 {
		return nil
	}
	err := o.send(wire.Raw(o.buf.Bytes()))
	o.buf.Reset()
	return err
}

func (o *ownStream) run(ctx context.Context, sub *bus.Subscription) error {
	for {
		env, err := sub.Next(expired)
		if err != nil && ctx.Err() == nil && errors.Is(err, context.Canceled) {
			if err := o.flush(); err != nil {
				return err
			}
			if err := o.gather(ctx); err != nil {
				return err
			}
			beat, cancel := context.WithTimeout(ctx, o.s.o.Heartbeat)
			env, err = sub.Next(beat)
			cancel()
		}
		var put error
		switch {
		case err == nil:
			if ev, ok := wire.EncodeOwnEvent(o.s.measured(env)); ok {
				_, o.delta = env.Event.(lathe.PartDelta)
				o.number = max(o.number, env.Number)
				put = o.put(position{env.Seq, o.number}, ev)
			}
			if _, missed := env.Event.(lathe.EventsMissed); missed {
				return errors.Join(o.put(position{}, connected("false")), o.flush())
			}
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			put = o.put(position{}, wire.Raw(wire.EncodeHeartbeat()))
		default:
			return errors.Join(err, o.flush())
		}
		if put != nil {
			return put
		}
	}
}

// gather waits for the rest of what is being said: while it does, the pieces of a text
// become one in the queue.
func (o *ownStream) gather(ctx context.Context) error {
	if o.pace == 0 || !o.delta {
		return nil
	}
	o.delta = false
	wait := time.NewTimer(o.pace)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
