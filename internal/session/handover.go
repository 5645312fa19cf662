package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// ErrLeft is what becomes of a prompt here whose turn another server goes on with.
var ErrLeft error = lathe.Errorf(lathe.CodeUnavailable, "ask again: another server goes on with it", "this server stops")

// errInterrupted ends a turn as the end of its server would.
var errInterrupted = errors.New(store.AbortedMessage)

// handing is how a server that stops hands over the turns that it runs.
type handing struct {
	mu   sync.Mutex
	to   HandOver
	all  map[lathe.SessionID]bool // left here
	have bool
}

// HandOver says how running turns are handed over.
type HandOver struct {
	// Pass has another server go on with the turn of a prompt. The session is free by then.
	Pass func(ctx context.Context, sess lathe.Session, prompt lathe.MessageID) error
	// Again means that the prompts themselves are sent again, with the limits that they had.
	Again bool
}

// leftDoc is stored with a session whose turn was left unfinished between two steps.
type leftDoc struct {
	Prompts []lathe.MessageID `json:"prompts,omitempty"` // that are not answered
}

const leftOver store.Document[leftDoc] = "left"

// open reports whether the newest message of a session is where a turn was left, and not where it
// ended since.
func (d leftDoc) open(newest lathe.Message) bool {
	a, answer := newest.Info.(*lathe.Assistant)
	if !answer {
		return slices.Contains(d.Prompts, newest.ID)
	}
	return slices.Contains(d.Prompts, a.ParentID) && a.Error == nil && (a.Completed.IsZero() || a.Finish == lathe.FinishToolCalls)
}

func (h *handing) left(id lathe.SessionID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[id]
}

func (h *handing) leave(id lathe.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[lathe.SessionID]bool{}
	}
	h.all[id] = true
}

func (h *handing) begun() (to HandOver, have bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.to, h.have
}

// HandOver has running turns end when their step is over, each to go on at another server. A
// turn that cannot be handed over, because a subagent's work or a limit of its own depends on
// this process or because what it changed is not recorded, runs on. The caller has to keep new
// ones from starting.
func (t *Turns) HandOver(to HandOver) {
	t.s.handing.mu.Lock()
	defer t.s.handing.mu.Unlock()
	t.s.handing.to, t.s.handing.have = to, true
}

// Left reports whether a turn of a session was handed over.
func (t *Turns) Left(id lathe.SessionID) bool { return t.s.handing.left(id) }

// Interrupt ends turns within their step, as the death of this process would, if they go on
// elsewhere after that ("resume": "auto"). Others run on.
func (t *Turns) Interrupt() {
	to, _ := t.s.handing.begun()
	for _, j := range t.running() {
		j.r.mu.Lock()
		if j.r.inst.Config.Resume == "auto" && j.movable(to) && j.r.work == j {
			j.left = true
			j.cancel(errInterrupted)
		}
		j.r.mu.Unlock()
	}
}

// movable reports whether another server can go on with the work, as far as its prompts are
// concerned. The caller holds mu.
func (j *work) movable(to HandOver) bool {
	if to.Pass == nil || len(j.waiting) == 0 || j.calls || j.r.removing {
		return false
	}
	return !slices.ContainsFunc(j.waiting, func(w *waiting) bool {
		bound := w.prompt.Limits != (turn.Limits{}) || len(w.prompt.Rules) > 0
		return w.message == nil || w.run.inner || bound && !to.Again
	})
}

// leaves reports whether the turn that runs is to be left, and records that it is. Its last
// step is complete.
func (r *runner) leaves(ctx context.Context) bool {
	to, have := r.s.handing.begun()
	if !have || len(r.s.helpers.of(r.current().ID)) > 0 {
		return false
	}
	ctx = store.Hasty(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work == nil || !r.work.movable(to) {
		return false
	}
	var doc leftDoc
	for _, w := range r.work.waiting {
		doc.Prompts = append(doc.Prompts, w.message.ID)
	}
	tree, changing, err := r.lastTree(ctx, r.work.waiting[0].message)
	if err == nil && tree == "" && changing {
		return false
	}
	if err == nil {
		err = r.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error { return leftOver.Set(tx, r.current().ID, doc) })
	}
	if err != nil {
		r.s.opts.Log.Warn("a turn is not handed over", "session", r.current().ID, "err", err)
		return false
	}
	r.work.left = true
	return true
}

// leave ends the work here: another server goes on with it, unless it was aborted while it
// was left. The caller holds mu.
func (j *work) leave() {
	r, id := j.r, j.r.current().ID
	if errors.Is(context.Cause(j.ctx), turn.ErrAborted) && r.s.ctx.Err() == nil {
		r.goingOn = true
		r.forgetLeft()
		j.end()
		return
	}
	r.s.handing.leave(id)
	prompt := j.waiting[0].message.ID
	for _, w := range j.waiting {
		j.answer(w, turn.Outcome{}, ErrLeft)
	}
	j.waiting, r.arrived = nil, nil
	r.rec.close()
	defer close(j.done)
	r.release(j.ctx, j.lease)
	r.work = nil
	to, _ := r.s.handing.begun()
	if err := to.Pass(context.WithoutCancel(j.ctx), *r.current(), prompt); err != nil {
		r.s.opts.Log.Error("no other server could be asked to go on with a turn", "session", id, "err", err)
		r.s.opts.Writer.Tell(r.current().Directory, lathe.SessionStatus{SessionID: id, Status: lathe.Idle{}})
		return
	}
	r.s.opts.Log.Info("a turn goes on at another server", "session", id)
}

// wasLeft reports whether another server left the turn of a prompt unfinished, and nothing was
// answered since.
func wasLeft(ctx context.Context, kept *store.Store, id lathe.SessionID, prompt lathe.MessageID) (bool, error) {
	if kept.Mail == nil {
		return false, nil
	}
	doc, _, err := leftOver.Get(ctx, kept, id)
	if err != nil || !slices.Contains(doc.Prompts, prompt) {
		return false, err
	}
	newest, err := kept.NewestMessage(ctx, id)
	if err != nil {
		return false, err
	}
	m, err := kept.Message(ctx, id, newest)
	a, ok := m.Info.(*lathe.Assistant)
	return !ok || slices.Contains(doc.Prompts, a.ParentID), err
}

// stopLeft records that a turn which another server left unfinished goes on nowhere: what it was
// to answer is taken back. The caller holds mu and the session's lease.
func (r *runner) stopLeft(ctx context.Context) error {
	kept, id := r.s.opts.Store, r.current().ID
	if kept.Mail == nil {
		return nil
	}
	doc, _, err := leftOver.Get(ctx, kept, id)
	if err != nil || len(doc.Prompts) == 0 {
		return err
	}
	newest, err := kept.NewestMessage(ctx, id)
	if err != nil {
		return err
	}
	if m, err := kept.Message(ctx, id, newest); err != nil || !doc.open(m) {
		return err
	}
	f := &lathe.AbortedFailure{Message: stoppedUnanswered}
	var ends []*lathe.Message
	for _, p := range doc.Prompts {
		m, err := kept.Message(ctx, id, p)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		var run *Run
		if err == nil {
			run, err = answered(ctx, kept, m)
		}
		switch {
		case err != nil:
			return err
		case run == nil:
			ends = append(ends, (&work{r: r}).failedAnswer(&waiting{message: &m}, f))
		case run.Last().ID == newest:
			ends = append(ends, failed(run.Last(), f))
		}
	}
	return r.endLeft(ctx, f, ends...)
}

// endLeft stores how a turn ends that another server left unfinished, and that nothing of it is
// left to do.
func (r *runner) endLeft(ctx context.Context, f lathe.Failure, ends ...*lathe.Message) error {
	id, dir := r.current().ID, r.current().Directory
	return r.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) (err error) {
		for _, m := range ends {
			if m.Seq == 0 {
				err = errors.Join(err, tx.AddMessage(m))
			} else {
				err = errors.Join(err, tx.UpdateMessage(m))
			}
			tx.Tell(dir, bare(m))
		}
		tx.Tell(dir, lathe.SessionFailed{SessionID: id, Failure: f}, lathe.SessionStatus{SessionID: id, Status: lathe.Idle{}})
		return errors.Join(err, leftOver.Set(tx, id, leftDoc{}))
	})
}

// failed is an answer that ends with a failure.
func failed(m *lathe.Message, f lathe.Failure) *lathe.Message {
	out, info := *m, *m.Info.(*lathe.Assistant)
	info.Error = f
	out.Info = &info
	return &out
}

// forgetLeft records that what another server left is over. The caller holds mu.
func (r *runner) forgetLeft() {
	if !r.goingOn {
		return
	}
	r.goingOn = false
	err := r.s.opts.Writer.Commit(context.WithoutCancel(r.s.ctx), func(tx *commit.Tx) error { return leftOver.Set(tx, r.current().ID, leftDoc{}) })
	if err != nil {
		r.s.opts.Log.Warn("that a turn which was handed over has ended could not be recorded", "session", r.current().ID, "err", err)
	}
}

// tooLate is how long after its last step a turn goes on elsewhere without being asked again:
// somebody who comes back the next day does not expect it.
const tooLate = time.Hour

// Continue goes on with a turn that another server left unfinished, or records that it is
// interrupted if that was long ago, or stopped if the session was reverted since. Without one it
// does nothing.
func (t *Turns) Continue(ctx context.Context, id lathe.SessionID, prompt lathe.MessageID) error {
	r, err := t.s.runner(ctx, id)
	if err != nil {
		return err
	}
	sess, err := t.s.Get(ctx, id)
	if err == nil && sess.Revert != nil {
		err = t.s.alone(ctx, id, func(r *runner, _ lathe.Session) error { return r.stopLeft(ctx) })
		return err
	}
	m, run, err := r.stored(ctx, prompt)
	if err != nil || m == nil {
		return err
	}
	left, err := wasLeft(ctx, t.s.opts.Store, id, prompt)
	if err == nil && left && run != nil && t.s.opts.Now().Sub(run.Last().Created) > tooLate {
		_, err = r.breakOff(ctx, m, run)
		return err
	}
	if err == nil && (left || run == nil || interrupted(run)) {
		_, err = r.goOn(ctx, m, run, Prompt{MessageID: prompt})
	}
	return err
}
