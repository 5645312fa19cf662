package session

import (
	"context"
	"slices"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// work is what keeps a session busy: turns one after the other, until no prompt is
// left without an answer.
type work struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when all of it is recorded
	lease   store.Lease
	waiting []*waiting // guarded by runner.mu
	ended   []*Run     // answered, and not told yet; guarded by runner.mu
}

// waiting is a prompt that is stored and not answered.
type waiting struct {
	message *lathe.Message // nil: nobody said anything, a compaction was asked for
	prompt  Prompt
	run     *Run
	late    bool // it came when the turn was stopped already
}

func newWaiting(m *lathe.Message, p Prompt) *waiting {
	return &waiting{message: m, prompt: p, run: &Run{done: make(chan struct{}), inner: p.spent != nil}}
}

// start runs turns until some prompts, and those that come meanwhile, are answered.
// The caller holds mu.
func (r *runner) start(lease store.Lease, all ...*waiting) {
	r.begin(lease, all, func(j *work) { r.turns(j) })
}

// begin makes the session busy. The caller holds mu.
func (r *runner) begin(lease store.Lease, all []*waiting, body func(*work)) {
	ctx, cancel := context.WithCancelCause(r.s.ctx)
	j := &work{ctx: ctx, cancel: cancel, done: make(chan struct{}), lease: lease, waiting: all}
	r.work = j
	r.serve(all)
	r.rec = newRecorder(r.s, *r.current())
	r.rec.onStep = r.window.Step
	// Who was told that the prompt is taken must not see the session idle.
	r.rec.Publish(lathe.SessionStatus{SessionID: r.current().ID, Status: lathe.Busy{}})
	r.s.wg.Go(func() {
		defer cancel(nil)
		body(j)
	})
}

// serve makes the rules and limits of the first of some prompts those of the next
// turn, within what bounds any of them. The caller holds mu.
func (r *runner) serve(all []*waiting) {
	first := all[0].prompt
	r.bounds = bounds{rules: first.Rules, limits: first.Limits, spent: first.spent}
	for _, w := range all {
		r.bounds.ceilings = append(r.bounds.ceilings, w.prompt.ceilings...)
	}
	if r.bounds.spent == nil {
		r.bounds.spent = &turn.Spent{}
	}
}

// turns runs turns until no prompt is left without an answer: one may arrive after
// the loop looked for the last time.
func (r *runner) turns(j *work) {
	for {
		out, err := r.oneTurn(j.ctx)
		if r.settle(j, out, err) {
			return
		}
	}
}

// settle tells the prompts that a turn has seen what became of them, and ends the
// work when no other is left. All of it happens under mu, so a prompt either comes
// before and is answered, or after and starts work of its own.
func (r *runner) settle(j *work, out turn.Outcome, err error) (over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.tell(j) // at last: who asked may leave once it has the answer, and has all events by then
	seen, left := r.split(j, err)
	if err != nil {
		r.s.opts.Log.Error("a turn could not be recorded", "session", r.current().ID, "err", err)
	}
	for _, w := range seen {
		r.answered(j, w, out, err)
	}
	j.waiting = left
	if j.ctx.Err() == nil && len(left) > 0 {
		r.serve(left)
		return false
	}
	r.end(j)
	return true
}

// split returns the prompts that the turn has seen, and the others. A turn that
// failed before it could look has seen all, so that the next one is not the same.
func (r *runner) split(j *work, err error) (seen, left []*waiting) {
	for _, w := range j.waiting {
		if w.late || r.hasArrived(w) {
			left = append(left, w)
		} else {
			seen = append(seen, w)
		}
	}
	if err != nil && len(seen) == 0 {
		seen, left = left, nil
		r.arrived = nil
	}
	return seen, left
}

func (r *runner) hasArrived(w *waiting) bool {
	return w.message != nil && slices.ContainsFunc(r.arrived, func(m lathe.Message) bool { return m.ID == w.message.ID })
}

// end makes the session idle. What waits for its turn is refused when the work was
// stopped, except what came after that: it is answered by work of its own.
func (r *runner) end(j *work) {
	var late []*waiting
	for _, w := range j.waiting {
		if w.late && r.s.ctx.Err() == nil && !r.removing {
			w.late = false
			late = append(late, w)
			continue
		}
		r.refuse(j, w, &lathe.AbortedFailure{Message: "It was stopped before it was answered."}, nil)
	}
	j.waiting, r.arrived = nil, nil
	r.rec.close()
	defer close(j.done)
	if len(late) > 0 {
		r.start(j.lease, late...)
		return
	}
	r.release(j.ctx, j.lease)
	r.work = nil
	r.s.opts.Writer.Tell(r.current().Directory, lathe.SessionStatus{SessionID: r.current().ID, Status: lathe.Idle{}})
}

// newestWaiting returns the newest prompt that waits for an answer, or "".
func (r *runner) newestWaiting() lathe.MessageID {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work == nil {
		return ""
	}
	for _, w := range slices.Backward(r.work.waiting) {
		if w.message != nil && !w.late {
			return w.message.ID
		}
	}
	return ""
}

// runOf returns the run that answers a message, or nil. The caller holds mu.
func (r *runner) runOf(id lathe.MessageID) *Run {
	if r.work == nil {
		return nil
	}
	for _, w := range r.work.waiting {
		if w.message != nil && w.message.ID == id {
			return w.run
		}
	}
	return nil
}

// answer notes what became of a prompt.
func (j *work) answer(w *waiting, out turn.Outcome, err error) {
	w.run.outcome, w.run.err = out, err
	j.ended = append(j.ended, w.run)
}

// tell lets everybody go on who waits for an answer that there is. The caller holds
// mu.
func (r *runner) tell(j *work) {
	for _, run := range j.ended {
		if r.removing && !run.inner {
			r.untold = append(r.untold, run)
			continue
		}
		close(run.done)
	}
	j.ended = nil
}

// runs reports whether a run is one of the session's. The caller holds mu.
func (j *work) runs(run *Run) bool {
	return j != nil && slices.ContainsFunc(j.waiting, func(w *waiting) bool { return w.run == run })
}
