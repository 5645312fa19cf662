package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"sync/atomic"
	"time"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
)

const (
	abortedCall = "Tool execution aborted"
	unmadeCall  = "Not started, nothing changed: the turn was aborted before the call was complete."
	queuedCall  = "Not started, nothing changed: the turn was aborted before this call could begin."
)

// errNotStarted ends a call that was still waiting when the turn was stopped.
var errNotStarted = errors.New("the call was not started")

// running is a call that was started: it runs while its step is still streaming, and records its
// own progress.
type running struct {
	s        *step
	part     *lathe.Part
	callID   string
	name     string
	tool     tool.Tool
	input    json.RawMessage
	path     string // the file it works on, which orders conflicting calls
	readOnly bool
	overlaps bool
	started  time.Time
	waited   atomic.Int64 // for answers of the person, in ns
	repeats  string       // why the call looks like part of a loop, or ""
	done     chan struct{}
	metadata map[string]any // newest progress; guarded by s.mu
}

// startCall records a complete call as running and starts it while the stream goes on. Calls on the
// same file wait for each other in the model's order.
func (s *step) startCall(ctx context.Context, c *call) error {
	r := &running{s: s, part: c.part, done: make(chan struct{}), started: s.Now()}
	if c.cut {
		return s.cutOff(ctx, r, c.name)
	}
	r.name, r.tool, r.input = s.tools.Resolve(c.name, c.input)
	body := c.part.Body.(*lathe.ToolCall)
	r.callID = body.CallID
	if r.tool == nil {
		return r.settle(ctx, tool.Failf("The call was not understood: %s", unusable(r.input)), nil)
	}
	if _, no := r.tool.(refused); !no { // no one is asked about a call that does nothing
		r.repeats = s.Loop.See(r.name, r.input)
	}
	spec := r.tool.Spec()
	r.readOnly, r.overlaps, r.path = spec.ReadOnly, spec.Overlaps, pathOf(spec, r.input)
	s.mu.Lock()
	running := *body
	running.Tool = r.name
	running.State = &lathe.ToolRunning{Input: r.input, Start: r.started}
	c.part.Body = &running
	after := s.conflicts(r)
	s.calls = append(s.calls, r)
	s.mu.Unlock()
	if err := s.record(ctx, append(s.expectChange(ctx, r.name), c.part)...); err != nil {
		close(r.done)
		return err
	}
	s.wg.Go(func() {
		defer close(r.done)
		r.run(ctx, after)
	})
	return nil
}

// unusable returns why a call cannot be run, for agents that lack the tool that would say so.
func unusable(input json.RawMessage) string {
	var in struct{ Error string }
	if err := json.Unmarshal(input, &in); err != nil || in.Error == "" {
		return "no tool takes it"
	}
	return in.Error
}

// pathOf returns the file that a call names, "*" for all, or "".
func pathOf(spec tool.Spec, input json.RawMessage) string {
	if spec.PathArg == "" || spec.PathArg == "*" {
		return spec.PathArg
	}
	var args map[string]any
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	path, _ := args[spec.PathArg].(string)
	return path
}

// conflicts returns the ends of earlier calls that r has to wait for.
func (s *step) conflicts(r *running) []<-chan struct{} {
	var after []<-chan struct{}
	for _, e := range s.calls {
		same := r.path != "" && e.path != "" && (r.path == e.path || r.path == "*" || e.path == "*")
		beside := (r.readOnly && e.readOnly) || (r.overlaps && r.name == e.name)
		if same && !beside {
			after = append(after, e.done)
		}
	}
	return after
}

func (r *running) run(ctx context.Context, after []<-chan struct{}) {
	for _, done := range after {
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	res, err := r.execute(ctx)
	r.settleLate(ctx, res, err)
}

// settleLate records how a call ended, on a context that outlives the turn.
func (r *running) settleLate(ctx context.Context, res tool.Result, err error) {
	save, done := Saving(ctx)
	defer done()
	if err := r.settle(save, res, err); err != nil {
		r.s.Logger.Error("a tool result could not be recorded", "session", r.s.Session.ID, "tool", r.name, "err", err)
		r.s.stopWith(&lathe.UnknownFailure{Message: fmt.Sprintf("record the result of %s: %v", r.name, err)})
	}
}

// survive turns a panic of a tool into a failed result of its call. It is deferred around
// everything that runs a tool's code, including its hooks.
func (r *running) survive(res *tool.Result, err *error) {
	if p := recover(); p != nil {
		r.s.Logger.Error("a tool panicked", "tool", r.name, "err", p, "stack", string(debug.Stack()))
		*res, *err = tool.Failf("the %s tool failed inside lathe: %v", r.name, p), nil
	}
}

// execute checks and runs the call. A panic of the tool becomes a failed result.
func (r *running) execute(ctx context.Context) (res tool.Result, err error) {
	defer r.survive(&res, &err)
	if ctx.Err() != nil {
		return tool.Result{}, errNotStarted
	}
	input, doubt, err := r.beforeCall(ctx)
	if err != nil {
		return tool.Failf("%v", err), nil
	}
	if err := r.settleDoubt(ctx, doubt, input); err != nil {
		return tool.Result{}, err
	}
	if err := r.gate(ctx, input); err != nil {
		return tool.Result{}, err
	}
	if err := r.awaitSnapshot(ctx); err != nil {
		return tool.Result{}, err
	}
	res, err = r.tool.Run(ctx, &tool.Call{
		SessionID: r.s.Session.ID, MessageID: r.s.msg.ID, CallID: r.callID,
		Agent: r.s.agent.Name, Model: r.s.modelRef(), UserAsked: r.userAsked(input),
		Input: input, Messages: r.s.History, Outputs: r.s.Outputs, Reading: r.s.tools.Reading, Rules: r.s.tools.Policy,
		Ask:      r.ask,
		Progress: r.progress,
		Beside:   r.s.beside,
		Spend:    r.spend,
	})
	return r.afterCall(ctx, input, res, err)
}

func (r *running) ask(ctx context.Context, req tool.Request) error {
	if _, named := req.Metadata["tool"]; !named && req.Permission == "external_directory" { // its name does not say what is being done
		req.Metadata = maps.Clone(req.Metadata)
		if req.Metadata == nil {
			req.Metadata = map[string]any{}
		}
		req.Metadata["tool"] = r.name
	}
	defer r.wait(r.s.Now())
	return r.s.Host.Ask(ctx, permission.AskInput{
		SessionID: r.s.Session.ID,
		Tool:      &lathe.ToolRef{MessageID: r.s.msg.ID, CallID: r.callID},
		Request:   req,
		Policy:    r.s.tools.Policy,
	})
}

// leastWait is what counts as waiting for a person: an ask that the rules answer takes less.
const leastWait = 50 * time.Millisecond

// wait notes that an ask was answered that began at a time.
func (r *running) wait(began time.Time) {
	if d := r.s.Now().Sub(began); d >= leastWait {
		r.waited.Add(int64(d))
	}
}

// withWait returns the metadata with how long the call waited for the person, if it did.
func (r *running) withWait(meta map[string]any) map[string]any {
	d := time.Duration(r.waited.Load())
	if d == 0 {
		return meta
	}
	out := maps.Clone(nonNil(meta))
	out[lathe.MetaWaited] = d.Milliseconds()
	return out
}

// gate stops a model that repeats itself, unless the user lets it go on. If nobody is there to
// decide, the model is warned once first.
func (r *running) gate(ctx context.Context, input json.RawMessage) error {
	why := r.repeats
	if why == "" {
		return nil
	}
	defer r.wait(r.s.Now())
	err := r.s.Host.Ask(ctx, permission.AskInput{
		SessionID: r.s.Session.ID,
		Tool:      &lathe.ToolRef{MessageID: r.s.msg.ID, CallID: r.callID},
		Request: tool.Request{
			Permission: "doom_loop", Patterns: []string{r.name}, Always: []string{permission.Literal(r.name)},
			Metadata: map[string]any{"tool": r.name, "input": input, "reason": why},
		},
		Policy: permission.Policy{Rules: r.s.agent.Rules, Ceilings: r.s.tools.Ceilings},
	})
	if err == nil {
		return nil
	}
	if _, alone := errors.AsType[*permission.Unanswered](err); alone && r.s.warn() {
		//lint:ignore ST1005 sentences for the model
		return fmt.Errorf("Not run: %s. Its answer stays the same: look at what it said, and do something else, or answer with what you have.", why)
	}
	if _, corrected := errors.AsType[*permission.Corrected](err); !corrected && ctx.Err() == nil {
		r.s.stopWith(&lathe.LimitFailure{Limit: "doom_loop", Message: "the model repeats itself: " + why})
	}
	return err
}

// warn reports whether the model has yet to be warned that it repeats itself, and counts it as warned.
func (s *step) warn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.warned
	s.warned = true
	return first
}

func (s *step) stopWith(f lathe.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.halt == nil {
		s.halt = f
	}
}

// progress publishes the state of a running call. It holds mu until that is done, so that it can
// never come after the call's end.
func (r *running) progress(title string, metadata map[string]any) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	body := *r.part.Body.(*lathe.ToolCall)
	state, ok := body.State.(*lathe.ToolRunning)
	if !ok {
		return
	}
	next := *state
	next.Title, next.Metadata = title, metadata
	body.State = &next
	r.part.Body, r.metadata = &body, metadata
	r.s.Log.Progress(*r.part)
}

// settle records how a call ended.
func (r *running) settle(ctx context.Context, res tool.Result, err error) error {
	r.s.mu.Lock()
	body := *r.part.Body.(*lathe.ToolCall)
	span := lathe.Span{Start: r.started, End: r.s.Now()}
	switch {
	case err != nil:
		body.State = r.failedState(err, span)
	case res.Failed:
		body.State = &lathe.ToolFailed{Input: r.input, Error: res.Output, Metadata: r.withWait(res.Metadata), Time: span}
	default:
		body.State = &lathe.ToolDone{
			Input: r.input, Output: res.Output, Title: res.Title,
			Metadata: r.withWait(nonNil(res.Metadata)), Attachments: res.Attachments, Time: span,
		}
	}
	r.part.Body = &body
	r.s.mu.Unlock()
	return r.s.record(ctx, r.part)
}

func nonNil(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// failedState turns an error that ended a call from outside into its state, and
// notes whether the turn has to stop for it.
func (r *running) failedState(err error, span lathe.Span) *lathe.ToolFailed {
	st := &lathe.ToolFailed{Input: r.input, Error: err.Error(), Metadata: r.withWait(r.metadata), Time: span}
	var rejected *permission.Rejected
	switch {
	case errors.As(err, &rejected):
		r.s.blocked = true
	case errors.Is(err, errNotStarted):
		st.Error, st.Interrupted = queuedCall, true
	case isCancel(err):
		st.Error, st.Interrupted = abortedCall, true
	}
	return st
}

func isCancel(err error) bool {
	return errors.Is(err, ErrAborted) || errors.Is(err, errTimeLimit) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// abortCalls closes calls that never ran or never ended. The caller holds mu.
func (s *step) abortCalls() []*lathe.Part {
	var changed []*lathe.Part
	for _, p := range s.fold.parts {
		body, ok := p.Body.(*lathe.ToolCall)
		if !ok {
			continue
		}
		failed := &lathe.ToolFailed{Error: abortedCall, Interrupted: true, Input: json.RawMessage("{}")}
		switch st := body.State.(type) {
		case *lathe.ToolPending:
			failed.Error, failed.Time = unmadeCall, lathe.Span{Start: s.Now(), End: s.Now()}
		case *lathe.ToolRunning:
			failed.Input, failed.Metadata, failed.Time = st.Input, st.Metadata, lathe.Span{Start: st.Start, End: s.Now()}
		default:
			continue
		}
		closed := *body
		closed.State = failed
		p.Body = &closed
		changed = append(changed, p)
	}
	return changed
}
