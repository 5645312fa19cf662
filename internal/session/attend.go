package session

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/store"
)

// A session can be open on several screens, each with a process of its own. Each process is
// told that the store was written ([Options.Changed]), looks whether another one works in a
// session that its person has on screen, or changed it, and publishes that here.

const (
	mostAttended = 8  // sessions of one process; the oldest are forgotten
	attendedTail = 60 // newest messages whose changes are noticed
)

// attended are the sessions that a person has on screen. The zero value is ready.
type attended struct {
	mu    sync.Mutex
	list  []*onlooker
	begun bool
}

// Attend publishes from now on what other processes do in a session: their turns as they go on,
// and what they change otherwise. It does nothing where the store tells of that by itself.
func (s *Service) Attend(ctx context.Context, id lathe.SessionID) error {
	if s.opts.Changed == nil || s.opts.Store.Journal != nil || s.ctx.Err() != nil {
		return nil
	}
	sess, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	w := &onlooker{s: s, id: id, sess: sess, known: map[lathe.PartID]lathe.PartBody{}, infos: map[lathe.MessageID]lathe.MessageInfo{}}
	if err := w.remember(ctx); err != nil {
		return err
	}
	a := &s.attended
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = slices.DeleteFunc(a.list, func(o *onlooker) bool { return o.id == id })
	a.list = append(a.list, w)
	a.list = a.list[max(0, len(a.list)-mostAttended):]
	if a.begun {
		return nil
	}
	a.begun = true
	s.wg.Go(func() {
		if err := s.opts.Changed(s.ctx, s.glance); err != nil && s.ctx.Err() == nil {
			s.opts.Log.Warn("what other processes do in open sessions is not noticed", "err", err)
		}
	})
	return nil
}

// glance looks at the attended sessions after the store was written.
func (s *Service) glance() {
	a := &s.attended
	a.mu.Lock()
	list := slices.Clone(a.list)
	a.mu.Unlock()
	for _, w := range list {
		if err := w.glance(s.ctx); err != nil && s.ctx.Err() == nil && !errors.Is(err, store.ErrNotFound) {
			s.opts.Log.Debug("a session on screen could not be looked at", "session", w.id, "err", err)
		}
	}
}

// glance follows the turn of another process, if one works in the session, and publishes what
// was changed elsewhere.
func (w *onlooker) glance(ctx context.Context) error {
	id := w.id
	if !w.s.elsewhere.claim(id) {
		return nil
	}
	foreign := false
	defer func() {
		if !foreign {
			w.s.elsewhere.release(id)
		}
	}()
	if w.s.Status(id) != (lathe.Idle{}) {
		w.stale = true
		return nil
	}
	by, living, err := w.s.opts.Store.Holder(ctx, id)
	if foreign = err == nil && living && by.Owner != w.s.opts.Owner; foreign {
		w.s.wg.Go(w.followOn)
	}
	if err != nil || foreign {
		return err
	}
	sess, err := w.s.Get(ctx, id)
	if err != nil || !w.stale && reflect.DeepEqual(sess, w.sess) {
		return err
	}
	w.stale = false
	same := func(a, b lathe.Session) bool { return a.Updated.UnixMilli() == b.Updated.UnixMilli() } // as it is stored
	if own := w.s.known(id); own != nil && same(*own.current(), sess) && !same(w.sess, sess) {
		return w.remember(ctx) // this process did it
	}
	return w.look(ctx)
}

// remember takes what is stored as known, without a word.
func (w *onlooker) remember(ctx context.Context) error {
	sess, err := w.s.Get(ctx, w.id)
	if err != nil {
		return err
	}
	messages, err := w.s.Messages(ctx, w.id, attendedTail)
	if err != nil {
		return err
	}
	w.sess = sess
	clear(w.known)
	clear(w.infos)
	w.from = 0
	for _, m := range messages {
		if w.from == 0 {
			w.from = m.Seq
		}
		w.infos[m.ID] = m.Info
		for _, p := range m.Parts {
			w.known[p.ID] = p.Body
		}
	}
	return nil
}
