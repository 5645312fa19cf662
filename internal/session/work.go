package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// work is what keeps a session busy: turns one after the other, until no prompt is
// left without an answer.
type work struct {
	r       *runner
	ctx     context.Context
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when all of it is recorded
	lease   store.Lease
	waiting []*waiting // guarded by r.mu
	ended   []*Run     // answered but not notified yet; guarded by r.mu
	calls   bool       // a user's own call is being done, no turn; guarded by r.mu
	left    bool       // another server is to go on with it; guarded by r.mu
}

// waiting is a prompt that is stored but not answered.
type waiting struct {
	message *lathe.Message // nil: there is no message, a compaction was asked for
	prompt  Prompt
	run     *Run
	late    bool // it came after the turn had been stopped
}

func newWaiting(m *lathe.Message, p Prompt) *waiting {
	return &waiting{message: m, prompt: p, run: &Run{done: make(chan struct{}), inner: p.spent != nil}}
}

// start runs turns until the given prompts, and those that arrive in the meantime,
// are answered. The caller holds mu.
func (r *runner) start(lease store.Lease, all ...*waiting) {
	r.begin(lease, all, (*work).turns)
}

// begin makes the session busy. The caller holds mu.
func (r *runner) begin(lease store.Lease, all []*waiting, body func(*work)) {
	ctx, cancel := context.WithCancelCause(r.s.ctx)
	j := &work{r: r, ctx: ctx, cancel: cancel, done: make(chan struct{}), lease: lease, waiting: all}
	r.work = j
	r.serve(all)
	r.rec = newRecorder(r.s, *r.current())
	r.rec.onStep = r.window.Step
	// Whoever was told that the prompt is accepted must not see the session idle.
	r.rec.Publish(lathe.SessionStatus{SessionID: r.current().ID, Status: lathe.Busy{}})
	r.s.wg.Go(func() {
		defer cancel(nil)
		body(j)
	})
}

// serve gives the next turn the rules and limits of the first of the prompts,
// within the bounds of all of them. The caller holds mu.
func (r *runner) serve(all []*waiting) {
	first := all[0].prompt
	r.bounds = bounds{rules: first.Rules, limits: first.Limits, spent: first.spent, purse: first.purse, began: r.s.opts.Now()}
	for _, w := range all {
		r.bounds.ceilings = append(r.bounds.ceilings, w.prompt.ceilings...)
	}
	if r.bounds.spent == nil {
		r.bounds.spent = &turn.Spent{}
		r.bounds.purse = newPurse(r, r.bounds.spent)
	}
}

// turns runs turns until no prompt is left without an answer: one may arrive after
// the loop has looked for the last time.
func (j *work) turns() {
	for {
		out, err := j.r.oneTurn(store.Patient(j.ctx)) // what it has done so far was paid for
		if j.settle(out, err) {
			return
		}
	}
}

// settle tells the prompts that a turn has seen how it ended, and ends the work if
// no other prompt is left. All of it happens under mu, so a prompt either comes
// before and is answered, or comes after and starts work of its own.
func (j *work) settle(out turn.Outcome, err error) (over bool) {
	j.r.mu.Lock()
	defer j.r.mu.Unlock()
	defer j.tell() // last of all: whoever asked may leave once it has the answer, and by then it has all events
	if j.left {
		j.leave()
		return true
	}
	if j.isLost(err) {
		j.lose()
		return true
	}
	seen, left := j.split(err)
	if err != nil {
		j.r.s.opts.Log.Error("a turn could not be recorded", "session", j.r.current().ID, "err", err)
	}
	for _, w := range seen {
		j.answered(w, out, err)
	}
	if _, unforeseen := out.Failure.(*lathe.UnknownFailure); unforeseen && err == nil { // such as a result that could not be stored
		if err := j.r.closeOpen(context.WithoutCancel(j.ctx)); err != nil {
			j.r.s.owed.owes(j.r)
		}
	}
	j.r.forgetLeft()
	j.calls = false
	j.waiting = left
	if j.ctx.Err() == nil && len(left) > 0 {
		j.r.serve(left)
		return false
	}
	j.end()
	return true
}

// lookTime bounds how long it is asked whether a session was lost.
const lookTime = 5 * time.Second

// isLost reports whether another server has taken the session over. A turn that failed may not know:
// in a process that was paused time has run out for whatever it was storing.
func (j *work) isLost(err error) bool {
	if errors.Is(err, store.ErrLost) || errors.Is(context.Cause(j.ctx), store.ErrLost) {
		return true
	}
	if err == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), lookTime)
	defer cancel()
	valid, err := j.lease.Valid(ctx)
	return err == nil && !valid
}

// lose ends the work: another server has taken the session over and closed what was open in it. What
// becomes of it is for that one to store and to tell. The caller holds mu.
func (j *work) lose() {
	r := j.r
	r.s.losses.add(r.current().ID)
	r.s.opts.Log.Warn("another server has taken a session over: its turn ends here", "session", r.current().ID)
	for _, w := range j.waiting {
		j.answer(w, turn.Outcome{}, store.ErrLost)
	}
	j.waiting, r.arrived = nil, nil
	r.rec.close()
	defer close(j.done)
	r.release(j.ctx, j.lease)
	r.work = nil
}

// split returns the prompts that the turn has seen, and the others. A turn that
// failed before it could look counts as having seen all of them, so that the next
// one does not fail in the same way.
func (j *work) split(err error) (seen, left []*waiting) {
	for _, w := range j.waiting {
		if w.late || j.hasArrived(w) {
			left = append(left, w)
		} else {
			seen = append(seen, w)
		}
	}
	if err != nil && len(seen) == 0 {
		seen, left = left, nil
		j.r.arrived = nil
	}
	return seen, left
}

func (j *work) hasArrived(w *waiting) bool {
	return w.message != nil && slices.ContainsFunc(j.r.arrived, func(m lathe.Message) bool { return m.ID == w.message.ID })
}

// stoppedUnanswered is what a prompt is told that was not answered, because it was stopped.
const stoppedUnanswered = "It was stopped before it was answered."

// end makes the session idle. If the work was stopped, prompts waiting for their
// turn are refused, except those that came after the stop: they are answered by
// work of their own.
func (j *work) end() {
	var late []*waiting
	for _, w := range j.waiting {
		if w.late && j.r.s.ctx.Err() == nil && !j.r.removing {
			w.late = false
			late = append(late, w)
			continue
		}
		j.refuse(w, &lathe.AbortedFailure{Message: stoppedUnanswered}, nil)
	}
	j.waiting, j.r.arrived = nil, nil
	j.r.rec.close()
	defer close(j.done)
	if len(late) > 0 {
		j.r.start(j.lease, late...)
		return
	}
	j.r.release(j.ctx, j.lease)
	j.r.work = nil
	j.r.s.opts.Writer.Tell(j.r.current().Directory, lathe.SessionStatus{SessionID: j.r.current().ID, Status: lathe.Idle{}})
}

// newestWaiting returns the newest prompt that is waiting for an answer, or "".
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

// answer notes how a prompt was answered.
func (j *work) answer(w *waiting, out turn.Outcome, err error) {
	w.run.outcome, w.run.err = out, err
	j.ended = append(j.ended, w.run)
}

// tell wakes everybody whose answer is ready. The caller holds mu.
func (j *work) tell() {
	for _, run := range j.ended {
		if j.r.removing && !run.inner {
			j.r.untold = append(j.r.untold, run)
			continue
		}
		close(run.done)
	}
	j.ended = nil
}

// runs reports whether a run belongs to this work. The caller holds mu.
func (j *work) runs(run *Run) bool {
	return j != nil && slices.ContainsFunc(j.waiting, func(w *waiting) bool { return w.run == run })
}
