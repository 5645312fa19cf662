package session

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"lathe"
	"lathe/internal/store"
)

// Another process may be working in a session that is looked at here: two screens on
// one session without a server. That process does not tell this one anything, so its
// work is polled as long as it holds the session, and published here as if it had
// happened here.
const elsewhereEvery = 300 * time.Millisecond

// elsewhere holds the sessions that are being polled.
type elsewhere struct {
	mu sync.Mutex
	on map[lathe.SessionID]bool
}

// Follow publishes what another process does in a session, if one does: that it is
// busy, what changes, and when it is idle. Call it with what was read of the
// session, oldest first; it costs nothing if the newest answer has ended. It ends
// with the other process's turn or with the service.
func (s *Service) Follow(sess lathe.Session, messages []lathe.Message) {
	if s.opts.Store.Journal != nil {
		return // what other servers do is published here as it happens
	}
	last := len(messages) - 1
	for ; last >= 0; last-- {
		if a, ok := messages[last].Info.(*lathe.Assistant); ok {
			if !a.Completed.IsZero() {
				return
			}
			break
		}
	}
	if last < 0 || s.Status(sess.ID) != (lathe.Idle{}) || s.ctx.Err() != nil {
		return
	}
	s.watch(&onlooker{s: s, id: sess.ID, sess: sess, from: messages[last].Seq, known: map[lathe.PartID]lathe.PartBody{}, infos: map[lathe.MessageID]lathe.MessageInfo{}})
}

// watch follows what another process does in a session, unless that is done already.
func (s *Service) watch(w *onlooker) {
	if s.elsewhere.claim(w.id) {
		s.wg.Go(w.followOn)
	}
}

// followOn follows in a session that is claimed.
func (w *onlooker) followOn() {
	defer w.s.elsewhere.release(w.id)
	w.follow()
}

// claim begins to look at a session; false if somebody does already.
func (e *elsewhere) claim(id lathe.SessionID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.on[id] {
		return false
	}
	if e.on == nil {
		e.on = map[lathe.SessionID]bool{}
	}
	e.on[id] = true
	return true
}

func (e *elsewhere) release(id lathe.SessionID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.on, id)
}

// onlooker watches what another process does in a session.
type onlooker struct {
	stale bool // this process changed the session since
	s     *Service
	id    lathe.SessionID
	sess  lathe.Session
	from  int64 // number of the first message that may still change
	known map[lathe.PartID]lathe.PartBody
	infos map[lathe.MessageID]lathe.MessageInfo
	by    string // who works there, as people know it
}

// follow returns when the other process has ended its turn, or when this one works
// in the session itself.
func (w *onlooker) follow() {
	ctx := w.s.ctx
	held, err := w.held(ctx)
	if err != nil || !held {
		return
	}
	w.publish(lathe.SessionStatus{SessionID: w.sess.ID, Status: lathe.Busy{In: w.by}})
	for err == nil && held {
		err = w.look(ctx)
		select {
		case <-time.After(elsewhereEvery):
		case <-ctx.Done():
		}
		if err == nil {
			held, err = w.held(ctx)
		}
	}
	if err == nil {
		err = w.look(ctx)
	}
	if err != nil && ctx.Err() == nil {
		w.s.opts.Log.Warn("what another process does in a session is not known any more", "session", w.sess.ID, "err", err)
	}
	if w.s.Status(w.sess.ID) == (lathe.Idle{}) {
		w.publish(lathe.SessionStatus{SessionID: w.sess.ID, Status: lathe.Idle{}})
	}
}

// held reports whether another process has the session. If that process died,
// what it left open is closed.
func (w *onlooker) held(ctx context.Context) (bool, error) {
	by, living, err := w.s.opts.Store.Holder(ctx, w.sess.ID)
	if err != nil || living && by.Owner != w.s.opts.Owner {
		w.by = by.Name
		return living, err
	}
	_, err = w.s.recover(ctx, w.sess.ID, "")
	return false, err
}

// look publishes what has changed since the last time.
func (w *onlooker) look(ctx context.Context) error {
	if err := w.lookAtSession(ctx); err != nil {
		return err
	}
	var messages []lathe.Message
	for m, err := range w.s.opts.Store.Messages(ctx, w.sess.ID, store.MessageFilter{}) {
		if err != nil {
			return err
		}
		if m.Seq < w.from {
			break
		}
		messages = append(messages, m)
	}
	for id := range w.infos {
		if !slices.ContainsFunc(messages, func(m lathe.Message) bool { return m.ID == id }) {
			delete(w.infos, id)
			w.publish(lathe.MessageRemoved{SessionID: w.sess.ID, MessageID: id})
		}
	}
	for _, m := range slices.Backward(messages) {
		if !reflect.DeepEqual(w.infos[m.ID], m.Info) {
			w.infos[m.ID] = m.Info
			bare := m
			bare.Parts = nil
			w.publish(lathe.MessageUpdated{Message: bare})
		}
		for _, p := range m.Parts {
			old, seen := w.known[p.ID]
			if !seen || !reflect.DeepEqual(old, p.Body) {
				w.known[p.ID] = p.Body
				w.publish(lathe.PartUpdated{Part: p, New: !seen})
			}
		}
	}
	return nil
}

// lookAtSession publishes the session itself, if it was changed.
func (w *onlooker) lookAtSession(ctx context.Context) error {
	sess, err := w.s.Get(ctx, w.sess.ID)
	if err != nil || reflect.DeepEqual(sess, w.sess) {
		return err
	}
	w.sess = sess
	w.publish(lathe.SessionUpdated{Session: sess})
	return nil
}

func (w *onlooker) publish(ev lathe.Event) { w.s.opts.Writer.Tell(w.sess.Directory, ev) }

// idleElsewhere fails if another process works in a session.
func (s *Service) idleElsewhere(ctx context.Context, id lathe.SessionID) error {
	by, living, err := s.opts.Store.Holder(ctx, id)
	if err != nil || !living || by.Owner == s.opts.Owner {
		return err
	}
	hint := "stop it there: with esc in its screen, Ctrl-C, or by ending that process"
	if by.Unseen {
		hint += "; if it is gone: lathe session unlock " + string(id)
	}
	return lathe.Errorf(lathe.CodeBusy, hint, "session %s is at work in %s, which cannot be stopped from here", id, by.Name)
}
