package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"lathe"
	"lathe/internal/sqlite"
	"lathe/internal/turn"
)

// Run is a running or finished turn. Wait may be called by any number of callers.
type Run struct {
	done    chan struct{}
	outcome turn.Outcome
	err     error
}

// Wait returns how the turn ended. The error is for what could not be recorded;
// failures of models and tools are in the outcome. Cancelling ctx stops the
// waiting, not the turn.
func (r *Run) Wait(ctx context.Context) (turn.Outcome, error) {
	select {
	case <-r.done:
		return r.outcome, r.err
	case <-ctx.Done():
		return turn.Outcome{}, context.Cause(ctx)
	}
}

// runner runs the turns of one session, one at a time.
type runner struct {
	s    *Service
	sess atomic.Pointer[lathe.Session] // see current
	inst *Instance

	mu      sync.Mutex
	run     *Run // nil: idle
	cancel  context.CancelCauseFunc
	arrived []lathe.Message   // stored, not yet seen by the turn
	answers []lathe.MessageID // the prompts that the run answers
	rec     *recorder
	rules   []lathe.Rule // of the running turn alone
	// ceilings bound every agent of the running turn.
	ceilings [][]lathe.Rule
	limits   turn.Limits // of the running turn, its subagents included
	spent    *turn.Spent // what counts against them
	titled   bool
	// undoTold says that the person knows that changes cannot be undone.
	undoTold atomic.Bool
	// restored says that the read tracker knows of earlier processes.
	restored bool
	frozen   *frozen
	context  contextState
}

// runner returns the session's runner, making it on first use.
func (s *Service) runner(ctx context.Context, id lathe.SessionID) (*runner, error) {
	s.mu.Lock()
	r := s.runners[id]
	s.mu.Unlock()
	if r != nil {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runners[id] == nil {
		s.runners[id] = newRunner(s, sess, inst)
	}
	return s.runners[id], nil
}

// Status tells what a session does in this process.
func (s *Service) Status(id lathe.SessionID) lathe.Status {
	s.mu.Lock()
	r := s.runners[id]
	s.mu.Unlock()
	if r == nil {
		return lathe.Idle{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run == nil {
		return lathe.Idle{}
	}
	return lathe.Busy{}
}

// Abort stops the session's turn and waits until its end is recorded. An idle
// session stays idle.
func (s *Service) Abort(ctx context.Context, id lathe.SessionID) error {
	s.mu.Lock()
	r := s.runners[id]
	s.mu.Unlock()
	if r == nil {
		return nil
	}
	r.mu.Lock()
	run := r.run
	if run != nil {
		r.cancel(turn.ErrAborted)
	}
	r.mu.Unlock()
	if run == nil {
		return nil
	}
	_, err := run.Wait(ctx)
	return err
}

// submit stores a user message and makes sure that a turn answers it. A message
// that comes while a turn runs steers that turn.
func (r *runner) submit(ctx context.Context, m *lathe.Message, p Prompt, store func(*lathe.Message) error) (*Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.NoReply {
		return nil, store(m)
	}
	if r.run != nil {
		m.Info.(*lathe.User).Steers = true
		if err := store(m); err != nil {
			return nil, err
		}
		r.arrived, r.answers = append(r.arrived, *m), append(r.answers, m.ID)
		r.ceilings = append(r.ceilings, p.ceilings...)
		return r.run, nil
	}
	if r.s.ctx.Err() != nil {
		return nil, context.Cause(r.s.ctx)
	}
	lease, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	if err := store(m); err != nil {
		_ = lease.Release(ctx)
		return nil, err
	}
	r.rules, r.ceilings = p.Rules, slices.Clone(p.ceilings)
	r.start(lease, p.Limits, p.spent)
	r.answers = []lathe.MessageID{m.ID}
	return r.run, nil
}

// acquire makes this process the session's owner and closes what a crashed one
// left open.
func (r *runner) acquire(ctx context.Context) (*sqlite.Lease, error) {
	lease, err := r.s.opts.Store.Acquire(ctx, r.current().ID, r.s.opts.Owner)
	if busy, ok := errors.AsType[*sqlite.BusyError](err); ok {
		return nil, r.s.busyIn(busy.Session, busy.Owner)
	}
	if err != nil {
		return nil, err
	}
	changed, err := r.s.opts.Store.Recover(ctx, r.current().ID)
	if err != nil {
		_ = lease.Release(ctx)
		return nil, err
	}
	sweepTemps(r.current().Directory, changed)
	for _, p := range changed {
		r.s.opts.Bus.Publish(r.current().Directory, lathe.PartUpdated{Part: p})
	}
	return lease, nil
}

// start runs a turn. The caller holds mu.
func (r *runner) start(lease *sqlite.Lease, lim turn.Limits, spent *turn.Spent) {
	r.launch(lim, spent, func(ctx context.Context, run *Run) { r.turns(ctx, run, lease, lim) })
}

// launch makes the session busy with a run. The caller holds mu.
func (r *runner) launch(lim turn.Limits, spent *turn.Spent, body func(context.Context, *Run)) *Run {
	ctx, cancel := context.WithCancelCause(r.s.ctx)
	run := &Run{done: make(chan struct{})}
	if spent == nil {
		spent = &turn.Spent{}
	}
	r.run, r.cancel, r.limits, r.spent = run, cancel, lim, spent
	r.rec = newRecorder(r.s, *r.current())
	r.rec.onStep = r.stepStats
	r.s.wg.Go(func() {
		defer cancel(nil)
		body(ctx, run)
	})
	return run
}

// turns runs turns until no message is left unanswered: one may arrive after the
// loop looked for the last time.
func (r *runner) turns(ctx context.Context, run *Run, lease *sqlite.Lease, lim turn.Limits) {
	for {
		run.outcome, run.err = r.oneTurn(ctx, lim)
		if r.finish(ctx, run, lease) {
			close(run.done)
			return
		}
	}
}

// finish makes the session idle, unless a message arrived that the turn should
// still answer. All of it happens under mu, so a prompt either comes before and
// is answered, or after and starts a turn of its own.
func (r *runner) finish(ctx context.Context, run *Run, lease *sqlite.Lease) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := run.outcome
	if len(r.arrived) > 0 && run.err == nil && ctx.Err() == nil && !out.Blocked && out.Failure == nil {
		return false
	}
	r.arrived = nil
	r.rec.close()
	if err := lease.Release(context.WithoutCancel(ctx)); err != nil {
		r.s.opts.Log.Warn("the session's lease could not be released", "session", r.current().ID, "err", err)
	}
	r.run, r.cancel = nil, nil
	r.s.opts.Bus.Publish(r.current().Directory, lathe.SessionStatus{SessionID: r.current().ID, Status: lathe.Idle{}})
	return true
}

func (r *runner) oneTurn(ctx context.Context, lim turn.Limits) (turn.Outcome, error) {
	// A turn that was aborted before it began still records that it was.
	history, err := r.s.opts.Store.TurnTail(context.WithoutCancel(ctx), r.current().ID)
	if err != nil {
		return turn.Outcome{}, err
	}
	r.dropSeen(history)
	r.restoreSeen(history)
	r.recoverPatch(ctx, history)
	r.keepShared(ctx)
	h := &host{runner: r, rules: r.rules, toolsets: map[string]*turn.Toolset{}}
	r.title(history)
	t := &turn.Turn{
		Session: *r.current(), History: history, Host: h, Log: r.rec, IDs: r.s.opts.IDs,
		Limits: lim, Spent: r.spent, Task: r.inst.taskTool(), Hooks: r.inst.engine.hooks, Retries: r.s.opts.Retries, ContinueOnDeny: r.inst.ContinueOnDeny,
		Now: r.s.opts.Now, Logger: r.s.opts.Log, Snapshots: r.turnSnapshots(),
		Context: r.turnContext(ctx),
	}
	r.takeAsked().apply(t)
	out, err := t.Run(ctx)
	if r.current().ParentID == "" { // what its subagents used was used for it
		_, out.Cost, out.Tokens = r.spent.Total()
	}
	r.summarise(ctx, t.History)
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
