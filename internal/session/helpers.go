package session

import (
	"context"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// helpersAtOnce is how many subagents of a session work at once where the configuration
// does not say.
const helpersAtOnce = 4

// quietCall shows nothing: the call that it stands for has returned.
var quietCall tool.Call

// helpers are the subagents that work in this process: how many of a session at once, and
// those that outlive the call that started them. The zero value is ready.
type helpers struct {
	mu      sync.Mutex
	places  map[lathe.SessionID]*places
	running []*helper // in the background
	// told is the newest answer to a report, by the session that got it.
	told map[lathe.SessionID]*Run
	// looked holds the sessions to which nothing of an earlier process is left to tell.
	looked map[lathe.SessionID]bool
}

// places limit how many subagents of one session work at once.
type places struct {
	taken   int
	waiting []chan struct{} // those that wait for one, in their order
}

// enter waits until another subagent of the session may work. Call leave at its end.
func (h *helpers) enter(ctx context.Context, parent lathe.SessionID, limit *int) (leave func(), err error) {
	most := helpersAtOnce
	if limit != nil {
		most = *limit
	}
	h.mu.Lock()
	if h.places == nil {
		h.places = map[lathe.SessionID]*places{}
	}
	p := h.places[parent]
	if p == nil {
		p = &places{}
		h.places[parent] = p
	}
	if p.taken < most {
		p.taken++
		h.mu.Unlock()
		return func() { h.leave(parent, p) }, nil
	}
	turn := make(chan struct{})
	p.waiting = append(p.waiting, turn)
	h.mu.Unlock()
	select {
	case <-turn: // the place was handed over
		return func() { h.leave(parent, p) }, nil
	case <-ctx.Done():
	}
	h.mu.Lock()
	at := slices.Index(p.waiting, turn)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	h.mu.Unlock()
	if at < 0 {
		h.leave(parent, p)
	}
	return nil, context.Cause(ctx)
}

func (h *helpers) leave(parent lathe.SessionID, p *places) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(p.waiting) > 0 {
		close(p.waiting[0])
		p.waiting = p.waiting[1:]
		return
	}
	if p.taken--; p.taken == 0 {
		delete(h.places, parent)
	}
}

// start runs a helper beside its caller.
func (h *helpers) start(one *helper) {
	ctx, cancel := context.WithCancelCause(one.s.ctx)
	one.cancel = cancel
	h.mu.Lock()
	h.running = append(h.running, one)
	h.mu.Unlock()
	one.s.wg.Go(func() {
		defer cancel(nil)
		one.beside(ctx)
		h.mu.Lock()
		h.running = slices.DeleteFunc(h.running, func(o *helper) bool { return o == one })
		if ctx.Err() != nil && h.looked != nil {
			delete(h.looked, one.child.ParentID) // the next prompt has to tell
		}
		h.mu.Unlock()
		close(one.done)
		one.ended()
	})
}

// cancelBelow stops the helpers that work for a session, directly or for one below it.
func (h *helpers) cancelBelow(id lathe.SessionID, cause error) (stopped []*helper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.running {
		if slices.Contains(one.above, id) {
			one.cancel(cause)
			stopped = append(stopped, one)
		}
	}
	return stopped
}

// stop stops a helper by its own session, or all of those that work for a session, and
// waits for their end.
func (h *helpers) stop(ctx context.Context, id lathe.SessionID) error {
	all := h.cancelBelow(id, turn.ErrAborted)
	h.mu.Lock()
	for _, one := range h.running {
		if one.child.ID == id {
			one.cancel(turn.ErrAborted)
			all = append(all, one)
		}
	}
	h.mu.Unlock()
	for _, one := range all {
		select {
		case <-one.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		h.mu.Lock()
		run := h.told[one.child.ParentID]
		h.mu.Unlock()
		if run != nil { // it ended by itself meanwhile, and its report began a turn
			one.parent.stopRun(run, turn.ErrAborted)
		}
	}
	return nil
}

// of returns the helpers in the background that work for a session.
func (h *helpers) of(parent lathe.SessionID) (out []*helper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.running {
		if one.child.ParentID == parent {
			out = append(out, one)
		}
	}
	return out
}

// runs reports whether a session is a helper that works in the background.
func (h *helpers) runs(id lathe.SessionID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.running, func(one *helper) bool { return one.child.ID == id })
}

// answers notes the run that answers a report.
func (h *helpers) answers(parent lathe.SessionID, run *Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.told == nil {
		h.told = map[lathe.SessionID]*Run{}
	}
	h.told[parent] = run
}

// settle waits for the helpers of a session, and returns the run that answers what they
// reported; nil when nothing is left to wait for.
func (h *helpers) settle(ctx context.Context, parent lathe.SessionID) *Run {
	for _, one := range h.of(parent) {
		select {
		case <-one.done:
		case <-ctx.Done():
			return nil
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	run := h.told[parent]
	delete(h.told, parent)
	return run
}

// nothingUntold notes that a session knows of all its helpers that have ended, and
// reports whether that was noted before.
func (h *helpers) nothingUntold(id lathe.SessionID) (known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.looked == nil {
		h.looked = map[lathe.SessionID]bool{}
	}
	known = h.looked[id]
	h.looked[id] = true
	return known
}

// markTold notes that the calling session knows how a helper ended.
func (s *Service) markTold(ctx context.Context, id lathe.SessionID) {
	_, err := s.Update(ctx, id, func(sess *lathe.Session) error {
		if sess.Helper != nil {
			told := *sess.Helper
			told.Untold = false
			sess.Helper = &told
		}
		return nil
	})
	if err != nil {
		s.opts.Log.Warn("that a session was told of its subagent is not recorded", "session", id, "err", err)
	}
}

// Helpers are the subagents that work beside the sessions which called them.
type Helpers struct{ s *Service }

// Wait returns when no helper works for a session any more and what they reported is
// answered, or with the cause of ctx.
func (h *Helpers) Wait(ctx context.Context, id lathe.SessionID) error {
	for run := h.s.helpers.settle(ctx, id); run != nil; run = h.s.helpers.settle(ctx, id) {
		if _, err := run.Wait(ctx); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
