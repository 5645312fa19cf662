package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/store"
	"lathe/internal/turn"
	"lathe/internal/undo"
	"lathe/internal/window"
)

// runner runs the turns of one session, one at a time.
type runner struct {
	s    *Service
	sess atomic.Pointer[lathe.Session] // see current
	ids  atomic.Pointer[lathe.IDs]     // new ones sort after those in the session
	inst *instance.Instance

	mu      sync.Mutex
	work    *work            // nil: idle
	arrived []lathe.Message  // stored, not yet seen by the turn
	owed    []*lathe.Message // failed answers that could not be stored
	rec     *recorder
	// removing says that the session is being deleted or is gone; untold are the
	// prompts waiting for an answer in the meantime.
	removing bool
	untold   []*Run

	bounds bounds // of the running turn
	titles namer

	outputs outputs
	earlier earlier
	changes *undo.Changes // of files
	window  *window.Window
	news    news
	asked   *asked // the compaction that the next turn begins with; guarded by mu
	goingOn bool   // with what another server left; guarded by mu
}

// newRunner returns the runner of a session.
func newRunner(s *Service, sess lathe.Session, inst *instance.Instance) *runner {
	r := &runner{s: s, inst: inst}
	r.sess.Store(&sess)
	r.ids.Store(s.opts.IDs)
	r.titles = namer{s: s, inst: inst, current: r.current}
	r.earlier = earlier{inst: inst}
	r.window = window.New(window.Options{Session: sess.ID, Instance: inst, Store: s.opts.Store, Now: s.opts.Now, Log: s.opts.Log})
	r.news = news{s: s, inst: inst, window: r.window, current: r.current}
	r.changes = undo.New(undo.Options{
		Sessions: s, Store: s.opts.Store, Writer: s.opts.Writer, Log: s.opts.Log, Instance: inst,
		Jobs: s.opts.Jobs, Now: s.opts.Now,
		Current: r.current, Stored: func(now *lathe.Session) { r.sess.Store(now) }, NewPart: func() lathe.PartID { return r.ids.Load().Part() },
	})
	return r
}

// after makes new identifiers sort after a message's.
func (r *runner) after(id lathe.MessageID) { r.ids.Store(r.ids.Load().After(string(id))) }

// current returns the session as this runner last stored it. It must not be
// changed.
func (r *runner) current() *lathe.Session { return r.sess.Load() }

// bounds are limits and rules that apply to one turn only.
type bounds struct {
	rules    []lathe.Rule   // after the session's
	ceilings [][]lathe.Rule // for every agent that takes part
	limits   turn.Limits    // including its subagents
	spent    *turn.Spent    // what counts against them
	purse    *purse         // what holds them to the configured budget; nil: there is none
	began    time.Time
}

// runner returns the session's runner, making it on first use.
func (s *Service) runner(ctx context.Context, id lathe.SessionID) (*runner, error) {
	if r := s.known(id); r != nil {
		return r, nil
	}
	sess, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	inst, err := s.Instance(ctx, sess.Directory)
	if err != nil {
		return nil, gone(err, sess)
	}
	newest, err := s.opts.Store.NewestMessage(ctx, id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runners[id] == nil {
		s.runners[id] = newRunner(s, sess, inst)
		if newest == "" {
			s.helpers.nothingUntold(id)
		}
		s.runners[id].after(newest)
	}
	return s.runners[id], nil
}

// known returns the session's runner if there is one, or nil.
func (s *Service) known(id lathe.SessionID) *runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runners[id]
}

// Status tells what a session does in this process.
func (s *Service) Status(id lathe.SessionID) lathe.Status {
	r := s.known(id)
	if r == nil {
		return lathe.Idle{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work == nil {
		return lathe.Idle{}
	}
	return lathe.Busy{}
}

// Abort stops what the session is doing, including prompts that wait for their turn,
// and returns when the end of it is recorded. An idle session stays idle. The error
// is that of ctx, or names another process that works in the session: that process
// has to stop it.
func (s *Service) Abort(ctx context.Context, id lathe.SessionID) error {
	r := s.known(id)
	if r == nil {
		return s.idleElsewhere(ctx, id)
	}
	r.mu.Lock()
	j := r.work
	if j != nil {
		j.cancel(turn.ErrAborted)
	}
	r.mu.Unlock()
	if j == nil {
		return errors.Join(s.idleElsewhere(ctx, id), s.helpers.stop(ctx, id))
	}
	select {
	case <-j.done:
		return s.helpers.stop(ctx, id)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// submit stores a user message and makes sure that it is answered. A message that
// comes while a turn runs steers that turn; one that comes when the turn has
// already been stopped is answered after it.
func (r *runner) submit(ctx context.Context, m *lathe.Message, p Prompt, store func(*lathe.Message) error) (*Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.NoReply {
		return nil, store(m)
	}
	if r.s.ctx.Err() != nil {
		return nil, context.Cause(r.s.ctx)
	}
	if r.removing {
		return nil, r.isGone()
	}
	if r.work != nil {
		return r.join(m, p, store)
	}
	lease, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	if err := store(m); err != nil {
		r.release(ctx, lease)
		return nil, err
	}
	w := newWaiting(m, p)
	r.start(lease, w)
	return w.run, nil
}

// join stores a message for the work that is in progress. The caller holds mu.
func (r *runner) join(m *lathe.Message, p Prompt, store func(*lathe.Message) error) (*Run, error) {
	late := r.work.ctx.Err() != nil
	m.Info.(*lathe.User).Steers = !late
	if err := store(m); err != nil {
		return nil, err
	}
	w := newWaiting(m, p)
	w.late = late
	r.work.waiting = append(r.work.waiting, w)
	if !late {
		r.arrived = append(r.arrived, *m)
		r.bounds.ceilings = append(r.bounds.ceilings, p.ceilings...)
	}
	return w.run, nil
}

// acquire makes this process the owner of the session and closes what a crashed
// one left open.
func (r *runner) acquire(ctx context.Context) (store.Lease, error) {
	if r.removing {
		return nil, r.isGone()
	}
	if err := r.pay(ctx); err != nil {
		return nil, err
	}
	lease, err := r.s.owed.lease(ctx, r.current().ID)
	if busy, ok := errors.AsType[*store.BusyError](err); ok {
		return nil, busyIn(busy.Session, busy.Holder)
	}
	if err != nil {
		return nil, err
	}
	if err := r.closeOpen(ctx); err != nil {
		r.release(ctx, lease)
		return nil, err
	}
	return lease, nil
}

// closeOpen closes what is left open by a turn that could not record its end.
func (r *runner) closeOpen(ctx context.Context) error {
	changed, err := r.s.recover(ctx, r.current().ID, r.current().Directory)
	if err != nil {
		return err
	}
	sweepTemps(r.current().Directory, changed)
	return nil
}

// release frees the session for other processes, now or as soon as that can be
// stored.
func (r *runner) release(ctx context.Context, lease store.Lease) {
	r.s.owed.giveBack(context.WithoutCancel(ctx), r.current().ID, lease)
}

func (r *runner) oneTurn(ctx context.Context) (turn.Outcome, error) {
	// A turn that was aborted before it began still records the abort.
	history, err := r.s.opts.Store.TurnTail(context.WithoutCancel(ctx), r.current().ID)
	if err != nil {
		return turn.Outcome{}, err
	}
	r.dropSeen(history)
	r.earlier.restore(r.current().ID, history)
	r.changes.RecoverPatch(ctx, history)
	r.s.Shares.Keep(ctx, r.inst, *r.current())
	h := &host{runner: r, rules: r.bounds.rules, toolsets: map[string]*turn.Toolset{}}
	r.titles.title(history, r.bounds.purse)
	t := &turn.Turn{
		Session: *r.current(), History: history, Host: h, Log: r.rec, IDs: r.ids.Load(),
		Limits: r.bounds.limits, Outputs: r.outputs.of(r.s, r.current()), Spent: r.bounds.spent, Task: r.inst.Tools.Task(), Hooks: r.inst.Hooks, Retries: r.s.opts.Retries, ContinueOnDeny: r.inst.Config.Experimental.ContinueLoopOnDeny,
		Budget: r.budgetCheck(h, r.bounds.purse), StandIns: r.inst.StandIns,
		Now: r.s.opts.Now, Logger: r.s.opts.Log, Snapshots: r.changes.Snapshots(),
		Context: r.turnContext(ctx), Asked: r.newestWaiting(), Leave: r.leaves,
	}
	r.takeAsked().apply(t)
	out, err := t.Run(ctx)
	if r.current().ParentID == "" { // what a session's subagents used was used on its behalf
		_, out.Cost, out.Tokens = r.bounds.spent.Total()
	}
	r.changes.Summarise(ctx, t.History)
	return out, err
}

// dropSeen forgets arrived messages that the loaded history already has.
func (r *runner) dropSeen(history []lathe.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(history) == 0 {
		return
	}
	last := history[len(history)-1].Seq
	kept := r.arrived[:0]
	for _, m := range r.arrived {
		if m.Seq > last {
			kept = append(kept, m)
		}
	}
	r.arrived = kept
}
