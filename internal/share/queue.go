package share

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/store"
)

const (
	quiet         = time.Second      // changes are sent when none came for so long
	longestWait   = 10 * time.Second // or if the oldest has waited this long
	grace         = 3 * time.Second  // for what is unsent when the process ends
	longestRetry  = time.Minute      // longest wait after a failure
	maxUnsent     = 1000             // objects; with more, the whole session is sent again
	sessionObject = "session"
)

// queue keeps the share service up to date with the sessions of this process.
// Changes are noted while they are published and sent from goroutines of its
// own; nothing of the engine ever waits for the service.
type queue struct {
	svc  *Service
	api  api
	ctx  context.Context // ends what is sent
	stop context.CancelFunc
	turn chan struct{} // held while a session is shared or taken back

	listen sync.Once
	sub    *bus.Subscription

	mu      sync.Mutex
	wg      sync.WaitGroup
	all     map[lathe.SessionID]*shared
	closing bool
}

// shared is a session that the service has. The fields after the first two are
// guarded by the mutex of queue.
type shared struct {
	id      lathe.SessionID
	share   lathe.Share
	unsent  map[string]any // by object key
	order   []string       // keys, oldest change first
	whole   bool           // the whole session must be sent
	since   time.Time      // when the oldest unsent change came
	timer   *time.Timer
	failed  int // attempts in a row
	dropped bool
	sending chan struct{} // closed when the running attempt is over; nil: none
}

func newQueue(s *Service) *queue {
	ctx, stop := context.WithCancel(context.Background())
	return &queue{
		svc: s, api: newAPI(s.opts.HTTP), ctx: ctx, stop: stop,
		turn: make(chan struct{}, 1), all: map[lathe.SessionID]*shared{},
	}
}

func (q *queue) enter(ctx context.Context) error {
	select {
	case q.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (q *queue) leave() { <-q.turn }

// background runs fn in the background; close waits for it.
func (q *queue) background(fn func(context.Context)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closing {
		q.wg.Go(func() { fn(q.ctx) })
	}
}

// follow begins to send the changes of a session, and before them the whole of it.
func (q *queue) follow(sess lathe.Session) *shared {
	q.listen.Do(func() { // not under mu: note is called by the bus
		q.sub = q.svc.opts.Bus.Subscribe(q.ctx, bus.Filter{Tap: q.note}, bus.Limits{})
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	if sh := q.all[sess.ID]; sh != nil {
		return sh
	}
	sh := &shared{id: sess.ID, share: *sess.Share, unsent: map[string]any{}, whole: true, since: time.Now()}
	q.all[sess.ID] = sh
	q.schedule(sh)
	return sh
}

// drop stops sending a session without waiting; the returned function resumes
// it.
func (q *queue) drop(id lathe.SessionID) (resume func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	sh := q.all[id]
	if sh == nil {
		return func() {}
	}
	sh.dropped = true
	delete(q.all, id)
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if !q.closing && q.all[id] == nil {
			sh.dropped, sh.whole = false, true
			q.all[id] = sh
			q.schedule(sh)
		}
	}
}

// note records a change while it is published.
func (q *queue) note(e lathe.Envelope) {
	key, object := objectOf(e.Event)
	if key == "" {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	sh := q.all[lathe.SessionOf(e.Event)]
	if sh == nil || q.closing && sh.failed > 0 {
		return
	}
	if len(sh.unsent) == 0 && !sh.whole {
		sh.since = time.Now()
	}
	sh.put(key, object)
	q.schedule(sh)
}

// objectOf returns the object that an event is about and its key. A nil object
// has been removed; the service has no message for that.
func objectOf(ev lathe.Event) (key string, object any) {
	switch ev := ev.(type) {
	case lathe.SessionUpdated:
		return sessionObject, ev.Session
	case lathe.SessionDiff:
		return "session_diff", ev.Diff
	case lathe.MessageUpdated:
		m := ev.Message
		m.Parts = nil
		return "message/" + string(m.ID), m
	case lathe.MessageRemoved:
		return "message/" + string(ev.MessageID), nil
	case lathe.PartUpdated:
		return "part/" + string(ev.Part.ID), ev.Part
	case lathe.PartRemoved:
		return "part/" + string(ev.PartID), nil
	}
	return "", nil
}

// put notes the newest state of an object.
func (sh *shared) put(key string, object any) {
	if _, known := sh.unsent[key]; !known {
		sh.order = append(sh.order, key)
	}
	sh.unsent[key] = object
	if len(sh.unsent) > maxUnsent {
		sh.forget()
		sh.whole = true
	}
}

func (sh *shared) forget() { clear(sh.unsent); sh.order = nil }

// schedule sets when the unsent changes go out. The caller holds mu.
func (q *queue) schedule(sh *shared) {
	if sh.sending != nil || sh.dropped || q.closing {
		return
	}
	wait := min(quiet, max(0, longestWait-time.Since(sh.since)))
	if sh.failed > 0 {
		wait = min(quiet<<min(sh.failed, 10), longestRetry)
		if sh.timer != nil {
			return // it is already set; further changes do not postpone it
		}
	}
	if sh.timer != nil {
		sh.timer.Stop()
	}
	sh.timer = time.AfterFunc(wait, func() {
		q.background(func(ctx context.Context) { _ = q.sync(ctx, sh) })
	})
}

// sync sends a session's unsent changes now.
func (q *queue) sync(ctx context.Context, sh *shared) error {
	for {
		batch, running := q.take(sh)
		if running != nil {
			select {
			case <-running:
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if batch == nil {
			return nil
		}
		err := batch.send(ctx, q)
		q.settle(sh, batch, err)
		return err
	}
}

// batch is what one attempt sends.
type batch struct {
	sh      *shared
	whole   bool
	order   []string
	objects map[string]any
}

// take begins an attempt. It returns nil, nil if there is nothing to send, and
// the end of the running attempt if there is one.
func (q *queue) take(sh *shared) (*batch, <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if sh.sending != nil {
		return nil, sh.sending
	}
	if sh.dropped || !sh.whole && len(sh.unsent) == 0 {
		return nil, nil
	}
	if sh.timer != nil {
		sh.timer.Stop()
		sh.timer = nil
	}
	b := &batch{sh: sh, whole: sh.whole, order: sh.order, objects: sh.unsent}
	sh.unsent, sh.order, sh.whole, sh.sending = map[string]any{}, nil, false, make(chan struct{})
	return b, nil
}

// settle ends an attempt. What could not be sent waits for the next one, unless
// the service refuses the session permanently.
func (q *queue) settle(sh *shared, b *batch, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	close(sh.sending)
	sh.sending = nil
	switch {
	case err == nil:
		sh.failed, sh.since = 0, time.Now()
	case errors.Is(err, errGone):
		q.svc.opts.Log.Warn("the share service refuses the session; it is no longer sent", "session", sh.id, "err", err)
		sh.dropped = true
		if q.all[sh.id] == sh { // it may have been withdrawn and shared again in the meantime
			delete(q.all, sh.id)
		}
		return
	default:
		sh.failed++
		q.svc.opts.Log.Warn("a shared session could not be sent", "session", sh.id, "attempt", sh.failed, "err", err)
		sh.whole = sh.whole || b.whole
		newer, keys := sh.unsent, sh.order
		sh.unsent, sh.order = b.objects, b.order
		for _, key := range keys {
			sh.put(key, newer[key])
		}
	}
	if sh.whole || len(sh.unsent) > 0 {
		q.schedule(sh)
	}
}

// close sends what is unsent, for a short time, and ends. The turns must have ended.
func (q *queue) close() {
	q.mu.Lock()
	for _, sh := range q.all {
		if sh.timer != nil {
			sh.timer.Stop()
		}
		if sh.failed == 0 {
			q.wg.Go(func() { _ = q.sync(q.ctx, sh) })
		}
	}
	q.closing = true
	q.mu.Unlock()
	q.listen.Do(func() {})
	if q.sub != nil {
		q.sub.Close()
	}
	limit := time.AfterFunc(grace, q.stop)
	q.wg.Wait()
	limit.Stop()
	q.stop()
}

// send sends the objects, or the whole session, in pieces of bounded size.
func (b *batch) send(ctx context.Context, q *queue) error {
	p := parcel{ctx: ctx, q: q, share: b.sh.share}
	if b.whole {
		return p.session(b.sh.id)
	}
	for _, key := range b.order {
		if object := b.objects[key]; object != nil {
			if err := p.add(kindOf(key), object); err != nil {
				return err
			}
		}
	}
	return p.flush()
}

func kindOf(key string) string { kind, _, _ := strings.Cut(key, "/"); return kind }

// parcel gathers encoded objects and sends them when there are enough.
type parcel struct {
	ctx   context.Context
	q     *queue
	share lathe.Share
	dir   string // of the sessions, once it is known
	data  []json.RawMessage
	size  int
}

// session adds all of a session as it is stored.
func (p *parcel) session(id lathe.SessionID) error {
	kept := p.q.svc.opts.Store
	sess, err := kept.Session(p.ctx, id)
	if err != nil {
		return err
	}
	if err := p.add(sessionObject, sess); err != nil {
		return err
	}
	models := map[lathe.ModelRef]bool{}
	for m, err := range kept.Messages(p.ctx, id, store.MessageFilter{}) {
		if err != nil {
			return err
		}
		if a, ok := m.Info.(*lathe.Assistant); ok {
			models[lathe.ModelRef{Provider: a.Model.Provider, Model: a.Model.Model}] = true
		}
		if err := p.message(m); err != nil {
			return err
		}
	}
	diffs, err := kept.Diffs(p.ctx, id, "")
	if err != nil {
		return err
	}
	if err := p.add("session_diff", diffs); err != nil {
		return err
	}
	if known := p.q.svc.models(sess, models); len(known) > 0 {
		if err := p.add("model", known); err != nil {
			return err
		}
	}
	return p.flush()
}

func (p *parcel) message(m lathe.Message) error {
	parts := slices.Clone(m.Parts)
	m.Parts = nil
	if err := p.add("message", m); err != nil {
		return err
	}
	for _, part := range parts {
		if err := p.add("part", part); err != nil {
			return err
		}
	}
	return nil
}

// shown returns a part as people elsewhere may read it.
func (p *parcel) shown(part lathe.Part) (lathe.Part, error) {
	if _, ok := part.Body.(*lathe.ToolCall); !ok {
		return part, nil
	}
	if p.dir == "" {
		sess, err := p.q.svc.opts.Store.Session(p.ctx, part.SessionID)
		if err != nil {
			return part, err
		}
		p.dir = sess.Directory
	}
	return p.q.svc.opts.Instances.Shown(p.ctx, p.dir, []lathe.Message{{Parts: []lathe.Part{part}}})[0].Parts[0], nil
}

func (p *parcel) add(kind string, object any) error {
	if part, ok := object.(lathe.Part); ok {
		shown, err := p.shown(part)
		if err != nil {
			return err
		}
		object = shown
	}
	data, err := p.q.svc.opts.Encode(object)
	if err != nil {
		return err
	}
	item, err := json.Marshal(map[string]any{"type": kind, "data": data})
	if err != nil {
		return err
	}
	if p.size > 0 && p.size+len(item) > maxBatch {
		if err := p.flush(); err != nil {
			return err
		}
	}
	p.data, p.size = append(p.data, item), p.size+len(item)
	return nil
}

func (p *parcel) flush() error {
	if len(p.data) == 0 {
		return nil
	}
	err := p.q.api.sync(p.ctx, p.share, p.data)
	p.data, p.size = nil, 0
	return err
}
