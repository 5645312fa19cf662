package turn

import (
	"context"
	"errors"
	"sync"
	"time"

	"lathe"
	"lathe/internal/llm"
)

// saveTime bounds what is still recorded after a turn was cancelled.
const saveTime = 5 * time.Second

// Saving returns a context for what is recorded even if ctx is cancelled; from then on there
// are some seconds for it. Until then it waits for the store, as all of the turn does.
func Saving(ctx context.Context) (context.Context, context.CancelFunc) {
	save, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(saveTime):
			cancel(context.DeadlineExceeded)
		case <-save.Done():
		}
	})
	return save, func() {
		stop()
		cancel(nil)
	}
}

// stepResult says how a step ended.
type stepResult struct {
	stop    bool
	blocked bool
	refused bool // because the request was too large; nothing was answered
	failure lathe.Failure
}

// step is one model request and the tool calls it asked for. Each call runs itself: see running.
type step struct {
	draft
	msg    lathe.Message
	usage  lathe.Tokens
	cost   lathe.Money
	finish lathe.Finish

	mu      sync.Mutex // guards fold and what follows; tools run while the answer streams
	fold    *fold
	calls   []*running
	wg      sync.WaitGroup
	blocked bool
	halt    lathe.Failure // a limit that a call reached
	guard   guard
	limit   int  // of the answer, in tokens
	cut     bool // the answer's limit ended it within a call
}

// step carries out one step for the message to be answered. The error is for what could not be
// recorded.
func (t *Turn) step(ctx context.Context, c cast, last bool) (stepResult, error) {
	s := &step{draft: draft{Turn: t, cast: c, last: last || c.agent.Steps > 0 && t.budget.steps >= c.agent.Steps}}
	t.closing.last = s.last
	req, err := s.request(ctx)
	if err != nil {
		return t.failEarly(ctx, c.user, classify(ctx, err, s.modelRef()))
	}
	if err := s.begin(ctx); err != nil {
		return stepResult{}, err
	}
	s.sent(req)
	s.limit = req.MaxTokens
	failure := s.attempt(ctx, req)
	s.wg.Wait()
	if s.refusedForSize(failure) {
		return s.endRefused(ctx, failure)
	}
	return s.end(ctx, failure)
}

// begin records the assistant message and its step start.
func (s *step) begin(ctx context.Context) error {
	created := s.Now()
	if created.Before(s.window.pruned) {
		created = s.window.pruned
	}
	s.msg = lathe.Message{
		ID: s.IDs.Message(), SessionID: s.Session.ID, Created: created,
		Info: s.info(nil, time.Time{}),
	}
	s.fold = newFold(&s.msg, s.IDs.Part, s.Now)
	start := s.fold.add(&lathe.StepStart{})
	s.guard.start = start
	// From here on there is a message for an abort to end.
	return s.Log.Commit(context.WithoutCancel(ctx), Change{Message: &s.msg}, Change{Part: start},
		Change{Event: lathe.SessionStatus{SessionID: s.Session.ID, Status: lathe.Busy{}}})
}

// info returns the message's info as it is now.
func (s *step) info(failure lathe.Failure, completed time.Time) *lathe.Assistant {
	return &lathe.Assistant{
		ParentID: s.user.ID, Agent: s.agent.Name, Model: s.modelRef(),
		Cwd: s.Session.Directory, Root: s.Session.Directory,
		Completed: completed, Finish: s.finish, Cost: s.cost, Tokens: s.usage, Error: failure,
	}
}

// attempt streams the answer, repeating the request as long as that may help.
func (s *step) attempt(ctx context.Context, req *llm.Request) lathe.Failure {
	for {
		err := s.stream(ctx, req)
		if err == nil {
			s.failures = 0
			return nil
		}
		failure := classify(ctx, err, s.modelRef())
		if ctx.Err() != nil {
			return failure
		}
		s.failures++
		wait, again := s.Retries.next(s.failures, err)
		if s.failures >= standInAfter && s.replaceable(s.ref) {
			return failure
		}
		if !again {
			return s.Retries.explain(s.failures, failure, err)
		}
		called, dropErr := s.dropAttempt(ctx)
		if dropErr != nil {
			return &lathe.UnknownFailure{Message: dropErr.Error()}
		}
		s.Logger.Info("model request failed; waiting to repeat it", "session", s.Session.ID, "attempt", s.failures, "dur", wait, "err", err)
		if err := s.wait(ctx, s.failures, wait, failure); err != nil {
			return classify(ctx, err, s.modelRef())
		}
		if called {
			// Tools have already run: their results go to the model in the next step.
			s.finish = lathe.FinishToolCalls
			return nil
		}
	}
}

func (d *draft) modelRef() lathe.ModelRef { return d.ref }

// wait announces the wait and its reason, and waits.
func (t *Turn) wait(ctx context.Context, attempt int, d time.Duration, why lathe.Failure) error {
	t.Log.Publish(lathe.SessionStatus{SessionID: t.Session.ID, Status: lathe.Retrying{
		Attempt: attempt, Message: why.Error(), Next: t.Now().Add(d),
	}})
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	}
	t.Log.Publish(lathe.SessionStatus{SessionID: t.Session.ID, Status: lathe.Busy{}})
	return nil
}

// dropAttempt removes what a failed attempt said, so that the repetition does not say it twice. If
// a call was started, the words stay with it and only calls with incomplete arguments go. It
// reports whether a call was started.
func (s *step) dropAttempt(ctx context.Context) (called bool, err error) {
	s.mu.Lock()
	called = len(s.calls) > 0
	var changes []Change
	if called {
		for _, p := range s.fold.closeOpen() {
			changes = append(changes, Change{Part: clone(p)})
		}
	}
	kept := s.fold.parts[:0]
	for _, p := range s.fold.parts {
		if keepPart(p, called) {
			kept = append(kept, p)
			continue
		}
		changes = append(changes, Change{Remove: clone(p)})
	}
	s.fold.parts = kept
	clear(s.fold.open)
	s.mu.Unlock()
	return called, s.Log.Commit(ctx, changes...)
}

func keepPart(p *lathe.Part, called bool) bool {
	switch b := p.Body.(type) {
	case *lathe.StepStart:
		return true
	case *lathe.ToolCall:
		_, pending := b.State.(*lathe.ToolPending)
		return !pending
	}
	return called
}

func clone(p *lathe.Part) *lathe.Part {
	c := *p
	return &c
}

// record commits parts as they are now. Tools change parts while the answer streams, so the log
// gets copies; the sequence numbers it assigns are put into the originals.
func (s *step) record(ctx context.Context, parts ...*lathe.Part) error {
	if len(parts) == 0 {
		return nil
	}
	changes := make([]Change, len(parts))
	s.mu.Lock()
	for i, p := range parts {
		changes[i] = Change{Part: clone(p)}
	}
	s.mu.Unlock()
	if err := s.Log.Commit(ctx, changes...); err != nil {
		return err
	}
	s.mu.Lock()
	for i, p := range parts {
		p.Seq = changes[i].Part.Seq
	}
	s.mu.Unlock()
	return nil
}

// stream reads one answer. A nil error means that it is complete; the calls it asked for may still
// be running.
func (s *step) stream(ctx context.Context, req *llm.Request) error {
	for ev, err := range s.model.LLM.Stream(ctx, req) {
		if err != nil {
			return err
		}
		if fin, ok := ev.(llm.Finish); ok {
			s.account(fin)
			return nil
		}
		if err := s.take(ctx, ev); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &llm.Error{Kind: llm.KindCut, Message: "the model's answer ended early", Retryable: true, RetryAfter: -1}
}

// take applies one event, records what it did and starts a complete call.
func (s *step) take(ctx context.Context, ev llm.Event) error {
	var changed []*lathe.Part
	if start, ok := ev.(llm.ToolStart); ok {
		changed = s.expectChange(ctx, start.Name)
	}
	s.mu.Lock()
	eff := s.fold.apply(ev)
	s.mu.Unlock()
	s.completeText(ctx, eff.changed)
	switch {
	case eff.delta != nil:
		s.Log.Delta(ctx, eff.delta, eff.text, eff.whole)
	case eff.changed != nil:
		// A part that ends while the turn is being aborted no longer counts as open: end would not
		// find it, and what was shown of it would be lost.
		save, done := Saving(ctx)
		defer done()
		return s.record(save, append(changed, eff.changed)...)
	case eff.call != nil:
		return s.startCall(ctx, eff.call)
	}
	return nil
}

func (s *step) account(fin llm.Finish) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish = lathe.Finish(fin.Reason)
	s.usage = s.model.Tokens(fin.Usage)
	s.cost += s.model.Cost(s.usage)
	s.budget.spend(s.cost, s.usage)
}

// end settles everything that is still open and records how the step ended, in one transaction:
// a finished step has no changes other than the recorded ones, and none is left open. It works on
// a context that outlives a cancelled turn. No tool runs any more.
func (s *step) end(ctx context.Context, failure lathe.Failure) (stepResult, error) {
	now, patch := s.changes(ctx)
	save, done := Saving(ctx)
	defer done()
	s.mu.Lock()
	changed := s.fold.closeOpen()
	changed = append(changed, s.abortCalls()...)
	called, blocked := len(s.calls) > 0, s.blocked
	if failure == nil {
		failure = s.ended(ctx)
	}
	s.mu.Unlock()
	changes := partChanges(changed)
	if failure == nil || s.usage != (lathe.Tokens{}) {
		changes = append(changes, s.finished(failure, now)...)
		now = "" // the step finish names it
	}
	changes = append(changes, partChanges(s.addPatch(patch, now))...)
	if failure != nil {
		changes = append(changes, Change{Event: lathe.SessionFailed{SessionID: s.Session.ID, Failure: failure}})
	}
	s.msg.Info = s.info(failure, s.Now())
	if err := s.Log.Commit(save, append(changes, Change{Message: &s.msg})...); err != nil {
		return stepResult{}, err
	}
	s.msg.Parts = s.fold.values()
	s.History = append(s.History, s.msg)
	stop := failure != nil || (blocked && !s.ContinueOnDeny) || (s.last && called)
	return stepResult{stop: stop, blocked: blocked && !s.ContinueOnDeny, failure: s.limitAfter(failure, called)}, nil
}

// limitAfter names the step limit as the reason when it cut the work short.
func (s *step) limitAfter(failure lathe.Failure, called bool) lathe.Failure {
	if failure == nil && s.last && called {
		return &lathe.LimitFailure{Limit: "steps", Message: "the agent's step limit was reached before the work was done"}
	}
	return failure
}

// finished returns the step finish, and the message as it is told with its tokens and cost while
// it is still open.
func (s *step) finished(failure lathe.Failure, tree string) []Change {
	s.mu.Lock()
	part := s.fold.add(&lathe.StepFinish{Reason: s.finish, Snapshot: tree, Cost: s.cost, Tokens: s.usage})
	s.mu.Unlock()
	open := s.msg
	open.Info = s.info(failure, time.Time{})
	return []Change{{Part: part}, {Event: lathe.MessageUpdated{Message: open}}}
}

func partChanges(parts []*lathe.Part) (changes []Change) {
	for _, p := range parts {
		changes = append(changes, Change{Part: p})
	}
	return changes
}

// ended returns the failure, if any, that a complete answer amounts to.
func (s *step) ended(ctx context.Context) lathe.Failure {
	cutTooOften := s.cutTooOften()
	switch {
	case ctx.Err() != nil:
		return classify(ctx, context.Cause(ctx), s.modelRef())
	case s.halt != nil:
		return s.halt
	case s.finish == lathe.FinishFilter:
		return &lathe.FilterFailure{Message: "the provider withheld the answer (content filter)"}
	case s.finish == lathe.FinishLength && cutTooOften:
		return &lathe.OutputLengthFailure{}
	}
	return nil
}

// failEarly records a failure from before a request could be made, as an answer of its own so that
// it is not lost.
func (t *Turn) failEarly(ctx context.Context, user *lathe.Message, failure lathe.Failure) (stepResult, error) {
	info := user.Info.(*lathe.User)
	now := t.Now()
	msg := lathe.Message{
		ID: t.IDs.Message(), SessionID: t.Session.ID, Created: now,
		Info: &lathe.Assistant{
			ParentID: user.ID, Agent: info.Agent, Model: info.Model,
			Cwd: t.Session.Directory, Root: t.Session.Directory, Completed: now, Error: failure,
		},
	}
	save, done := Saving(ctx)
	defer done()
	if err := t.Log.Commit(save, Change{Message: &msg}); err != nil {
		return stepResult{}, err
	}
	t.Log.Publish(lathe.SessionFailed{SessionID: t.Session.ID, Failure: failure})
	t.History = append(t.History, msg)
	return stepResult{stop: true, failure: failure}, nil
}

var errTimeLimit = errors.New("the time limit of the turn was reached")
