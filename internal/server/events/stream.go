package events

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/opencode/wire"
	"lathe/internal/server/gate"
)

const (
	// partEvery is how often text of an open part is sent to one client, and partRate the
	// bytes a second that text may take which is repeated.
	partEvery = time.Second / 30
	partRate  = 1 << 20
	// pieceSize is how much is written before it is passed on, if events keep coming.
	pieceSize = 32 << 10
)

// stream makes the frames of events, for one client or for many.
//
// The text of an open part goes out in two forms: message.part.delta, which a
// client appends (1.18), then message.part.updated with the whole part and the
// text that came since it was last sent (1.1), which replaces what it has. Both are held
// back to [partEvery], and the second, which costs the whole text each time, for longer the
// longer that is; what is held back goes out before any other event, so the order is the
// order of the bus.
//
// A frame is "data: " with the event's JSON and nothing else, as OpenCode sends it:
// there are clients that take every line of a frame for data. Who asks for it gets
// an SSE id with each (see wantsIDs); a client that comes back with one as
// Last-Event-ID gets what followed, if that is still kept.
type stream struct {
	s    *Streams
	key  fankey
	sink func(wire.Output) error // sends what was written; it must not keep pieces that are complete
	fan  *fanout                 // whose stream it is; nil: that of one client

	parts   map[lathe.PartID]*sending
	held    []lathe.PartID // parts with unsent text, oldest first
	project map[string]string
	buf     []byte // written since the last flush

	taken  uint64             // number of the newest event that was read
	number int64              // in the journal, of the newest that has one
	over   bool               // nothing more is sent
	reach  func(taken uint64) // called with every flush
}

// sending is how far a part has been sent.
type sending struct {
	open *openPart // where its text is; nil where that is not known
	sent int       // bytes of the text
	last time.Time // when
	all  int       // bytes of the text when all of it was sent
	next time.Time // when that may be again
	dir  string
	seq  uint64 // newest unsent delta
	text []byte // of the unsent deltas, without open
	msg  lathe.PartDelta
	held bool
	more bool // there are deltas that were not sent
}

// due returns when something of a part that is held back is to be sent.
func (p *sending) due() time.Time {
	if p.more {
		return p.last.Add(partEvery)
	}
	return p.next
}

func newStream(s *Streams, key fankey) *stream {
	return &stream{s: s, key: key, parts: map[lathe.PartID]*sending{}, project: map[string]string{}}
}

// request is a client that asked for events.
type request struct {
	s *Streams
	w http.ResponseWriter
	r *http.Request
}

// Serve answers a request for the events of a directory, of all of them for global,
// until the client leaves. The error is [bus.ErrSlow] when it was too slow.
//
// With ?parts=delta a client gets deltas alone. With a Last-Event-ID, or ?after, it
// goes on where it was, if those events are still kept.
func (s *Streams) Serve(w http.ResponseWriter, r *http.Request, dir string, global bool) error {
	c := &request{s, w, r}
	key, f := fankey{dir: dir}, bus.Filter{Directory: dir}
	if global {
		key, f = fankey{global: true}, bus.Filter{}
	}
	key.deltas, key.ids = r.URL.Query().Get("parts") == "delta", c.wantsIDs()
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	last := c.last()
	if p, ok := s.parse(last); ok {
		if sub, missed, err := s.from(r.Context(), p, f); err == nil {
			return c.alone(key, sub, missed)
		}
	}
	return c.among(key, f, last != "")
}

// last is the event that the client had last, as it says.
func (c *request) last() string {
	if last := c.r.Header.Get("Last-Event-ID"); last != "" {
		return last
	}
	return c.r.URL.Query().Get("after")
}

// wantsIDs reports whether a client asked for the ids of events: with ?ids=true, or
// by saying where it was.
func (c *request) wantsIDs() bool {
	_, resumes := c.r.Header["Last-Event-Id"]
	return resumes || c.r.URL.Query().Has("after") || c.r.URL.Query().Get("ids") == "true"
}

// among sends what all clients get that asked for the same.
func (c *request) among(key fankey, f bus.Filter, refused bool) error {
	m, err := c.s.join(c.r.Context(), key, f)
	if err != nil {
		return err
	}
	defer m.leave()
	resumed := ""
	if refused {
		resumed = "false"
	}
	if err := c.open(key, resumed, m.at); err != nil {
		return err
	}
	return m.copy(c.r.Context(), c.w)
}

// alone sends what a client missed and what follows. It is behind the others, so
// it has a stream of its own.
func (c *request) alone(key fankey, sub *bus.Subscription, missed past) error {
	defer sub.Close()
	st := newStream(c.s, key)
	place := &place{key: key, newest: sub.Newest}
	defer c.s.follow(place)()
	rc := http.NewResponseController(c.w)
	st.reach = place.reach
	st.sink = func(data wire.Output) error {
		_ = rc.SetWriteDeadline(gate.WriteUntil(data.Size()))
		if _, err := data.WriteTo(c.w); err != nil {
			return err
		}
		return rc.Flush()
	}
	if err := c.open(key, "true", ""); err != nil {
		return err
	}
	if err := st.catchUp(missed); err != nil {
		return err
	}
	return st.run(c.r.Context(), sub)
}

// open begins the answer. After a failed resumption the client reads what it
// shows again, as after any connection. The id, if there is one, is where the stream begins.
func (c *request) open(key fankey, resumed, id string) error {
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	c.w.WriteHeader(http.StatusOK)
	ev := wire.Raw(wire.EncodeConnected())
	if resumed != "" {
		ev = connected(resumed)
	}
	if key.ids && id != "" {
		id = "id: " + id + "\n"
	} else {
		id = ""
	}
	if key.global {
		var err error
		if ev, err = wire.EncodeGlobalIn("", "", ev); err != nil {
			return err
		}
	}
	rc := http.NewResponseController(c.w)
	_ = rc.SetWriteDeadline(time.Now().Add(gate.WriteTimeout))
	if _, err := fmt.Fprintf(c.w, "%sdata: %s\n\n", id, ev.Bytes()); err != nil {
		return err
	}
	return rc.Flush()
}

// connected says whether a stream goes on where the client was.
func connected(resumed string) wire.Output {
	return wire.Raw([]byte(`{"type":"server.connected","properties":{"resumed":` + resumed + `}}`))
}

// expired ends at once: Next with it takes what is queued and does not wait.
var expired = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// run sends until the client leaves, the instance or the server ends, or the
// client is too slow.
func (st *stream) run(ctx context.Context, sub *bus.Subscription) error {
	beat := time.Now().Add(st.s.o.Heartbeat)
	for {
		env, err := sub.Next(expired)
		if err != nil && ctx.Err() == nil && errors.Is(err, context.Canceled) {
			if err := st.settled(ctx); err != nil {
				return err
			}
			env, err = st.wait(ctx, sub, beat)
		}
		switch {
		case err == nil:
			st.taken = env.Seq
			if err := st.send(env); err != nil {
				return err
			}
			if _, over := env.Event.(lathe.InstanceDisposed); over && !st.key.global || st.over {
				return st.flush()
			}
		case ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)):
		default:
			_ = st.flush()
			return err
		}
		if err := st.release(time.Now(), false); err != nil {
			return err
		}
		if now := time.Now(); !now.Before(beat) {
			beat = now.Add(st.s.o.Heartbeat)
			if err := st.frame("", "", wire.Raw(wire.EncodeHeartbeat())); err != nil {
				return err
			}
		}
	}
}

// settled sends what was written, now that no event waits.
func (st *stream) settled(ctx context.Context) error {
	if st.fan == nil {
		return st.flush()
	}
	if err := st.fan.admit(st); err != nil {
		return err
	}
	st.fan.pause(ctx)
	return nil
}

// wait waits for the next event, the next heartbeat, the next held-back part or
// the next client.
func (st *stream) wait(ctx context.Context, sub *bus.Subscription, until time.Time) (lathe.Envelope, error) {
	for _, id := range st.held {
		p := st.parts[id]
		if at := p.due(); at.Before(until) {
			until = at
		}
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if st.fan != nil && !st.fan.waits(cancel) {
		cancel()
	}
	return sub.Next(ctx)
}

// send sends an event, after what was held back.
func (st *stream) send(env lathe.Envelope) error {
	if d, ok := env.Event.(lathe.PartDelta); ok {
		return st.delta(env, d)
	}
	if err := st.release(time.Time{}, true); err != nil {
		return err
	}
	if u, ok := env.Event.(lathe.PartUpdated); ok {
		delete(st.parts, u.Part.ID)
	}
	if _, missed := env.Event.(lathe.EventsMissed); missed {
		st.over = true
		return st.frame("", "", connected("false"))
	}
	st.number = max(st.number, env.Number)
	return st.framed(env, st.s.frames.of(env, st.s.frameID(env.Seq)))
}

// framed writes the frames of an event.
func (st *stream) framed(env lathe.Envelope, frames []wire.Output) error {
	for i, raw := range frames {
		id := ""
		if i == len(frames)-1 { // a client that has only an earlier one has not seen all
			id = st.id(env.Seq, env.Number > 0)
		}
		if err := st.frame(id, env.Directory, raw); err != nil {
			return err
		}
	}
	return nil
}

// id returns the id for the frame of an event, "" for a client that did not ask for ids.
func (st *stream) id(seq uint64, numbered bool) string {
	if !st.key.ids {
		return ""
	}
	return st.s.id(position{seq, st.number}, numbered)
}

// delta notes text that came; release sends it when it is time.
func (st *stream) delta(env lathe.Envelope, d lathe.PartDelta) error {
	if st.key.deltas {
		return st.frame(st.id(env.Seq, false), env.Directory, wire.EncodePartDelta(d, wire.TextOf(d.Delta), st.s.frameID(env.Seq)))
	}
	p := st.parts[d.PartID]
	if p == nil {
		open, size := st.s.live.at(d.PartID, env.Seq)
		p = &sending{open: open, sent: max(0, size-len(d.Delta)), msg: d}
		p.all = p.sent
		p.msg.Delta = ""
		st.parts[d.PartID] = p
	}
	p.seq, p.dir, p.more = env.Seq, env.Directory, true
	if p.open == nil {
		p.text = append(p.text, d.Delta...)
	}
	if !p.held {
		p.held = true
		st.held = append(st.held, d.PartID)
	}
	return nil
}

// release sends the parts whose time has come, or all of them.
func (st *stream) release(now time.Time, all bool) error {
	kept := st.held[:0]
	for i, id := range st.held {
		p := st.parts[id]
		if all || !now.Before(p.due()) {
			if err := st.part(id, p, all); err != nil {
				st.held = append(kept, st.held[i:]...)
				return err
			}
		}
		if p.held {
			kept = append(kept, id)
		}
	}
	st.held = kept
	return nil
}

// part sends what a part gained, and all of its text if that may be sent again or has to
// be; if not, the part is still held back.
func (st *stream) part(id lathe.PartID, p *sending, whole bool) error {
	fid := st.s.frameID(p.seq)
	p.held, p.more, p.last = false, false, time.Now()
	if p.open == nil {
		text := wire.TextOf(string(p.text))
		p.text = p.text[:0]
		return st.frame("", p.dir, wire.EncodePartDelta(p.msg, text, fid))
	}
	part, all, kept := st.s.live.text(id, p.open, p.seq)
	size := all.Len()
	if size > p.sent {
		delta := all.Cut(p.sent, size)
		p.sent = size
		if err := st.frame("", p.dir, wire.EncodePartDelta(p.msg, delta, fid)); err != nil {
			return err
		}
	}
	if !kept || size <= p.all { // the turn is over: the whole part is on its way
		return nil
	}
	if p.held = !whole && p.last.Before(p.next); p.held {
		return nil
	}
	raw, ok := wire.EncodeStreamPart(part, all, all.Cut(p.all, size), fid)
	p.all, p.next = size, p.last.Add(max(partEvery, time.Duration(size)*time.Second/partRate))
	if !ok {
		return nil
	}
	at := ""
	if len(st.held) <= 1 { // others that are still held back have to be brought by a resumption
		at = st.id(p.seq, false)
	}
	return st.frame(at, p.dir, raw)
}

// frameID is the event identifier that clients of 1.18 look for.
func (s *Streams) frameID(seq uint64) string {
	return fmt.Sprintf("%s_%012x%s", lathe.PrefixEvent, seq, s.o.Epoch)
}

// frame writes one event, with an id unless that is "".
func (st *stream) frame(id, dir string, ev wire.Output) error {
	if st.key.global {
		wrapped, err := wire.EncodeGlobalIn(dir, st.projectOf(dir), ev)
		if err != nil {
			return err
		}
		ev = wrapped
	}
	if id != "" {
		st.buf = fmt.Appendf(st.buf, "id: %s\n", id)
	}
	st.buf = append(st.buf, "data: "...)
	raw, ok := ev.Whole()
	if !ok {
		frame := ev.Wrap(st.buf, frameEnd)
		st.buf = st.buf[:0]
		return st.sink(frame)
	}
	st.buf = append(st.buf, raw...)
	st.buf = append(st.buf, frameEnd...)
	if len(st.buf) < pieceSize {
		return nil
	}
	return st.pass()
}

// frameEnd ends a frame.
var frameEnd = []byte("\n\n")

// pass passes on what was written.
func (st *stream) pass() error {
	if len(st.buf) == 0 {
		return nil
	}
	err := st.sink(wire.Raw(st.buf))
	st.buf = st.buf[:0]
	if cap(st.buf) > 2*pieceSize {
		st.buf = nil
	}
	return err
}

// flush passes on what was written and says how far the stream is.
func (st *stream) flush() error {
	err := st.pass()
	if err == nil {
		st.reach(st.taken)
	}
	return err
}

// projectOf returns the project of a directory whose instance is open.
func (st *stream) projectOf(dir string) string {
	if dir == "" {
		return ""
	}
	id, ok := st.project[dir]
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if id = st.s.o.Project(ctx, dir); id != "" {
			st.project[dir] = id
		}
	}
	return id
}
