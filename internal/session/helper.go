package session

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"strings"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/bus"
	"lathe/internal/instance"
	"lathe/internal/people"
	"lathe/internal/permission"
	"lathe/internal/prompt"
	"lathe/internal/turn"
)

// helper is one call of the task tool: a subagent that works in a session of its own.
type helper struct {
	s      sessions
	inst   *instance.Instance // of the calling session
	parent *runner
	in     builtin.SpawnInput
	child  lathe.Session
	ask    Prompt            // what the subagent is asked
	back   Prompt            // what the caller's session is told with, once the call has returned
	above  []lathe.SessionID // the sessions that it works for, nearest first
	watch  *taskWatch

	cancel context.CancelCauseFunc // nil: the call waits
	done   chan struct{}           // closed when the caller's session was told, or cannot be
}

// newHelper finds or makes the session, and what it is asked.
func (s sessions) newHelper(ctx context.Context, i *instance.Instance, in builtin.SpawnInput) (*helper, error) {
	agent, err := i.Agents.Get(in.Agent)
	if err != nil {
		return nil, err
	}
	parent, err := s.runner(ctx, in.Call.SessionID)
	if err != nil {
		return nil, err
	}
	h := &helper{s: s, inst: i, parent: parent, in: in, done: make(chan struct{})}
	if h.child, err = s.childSession(ctx, i, agent, in); err != nil {
		return nil, err
	}
	if h.above, err = s.ancestors(ctx, h.child); err != nil {
		return nil, err
	}
	return h, h.compose(ctx, agent)
}

// compose makes the prompt for the subagent, within the bounds of the calling turn.
func (h *helper) compose(ctx context.Context, agent instance.Agent) error {
	p := Prompt{Agent: agent.Name, Model: h.in.Call.Model}
	if !agent.Model.IsZero() {
		p.Model = agent.Model
	}
	p.Limits, p.spent, p.Rules, p.ceilings = h.parent.shared()
	p.purse = h.parent.purse()
	p.by = people.From(ctx)
	h.back = p
	h.back.Agent, h.back.Model = "", lathe.ModelRef{} // those that the session has by then
	p.Limits.Time = 0                                 // the caller's own clock ends the context of a call
	if h.in.Background {
		p.Limits.Time = h.parent.timeLeft(h.s.opts.Now())
		h.back.Limits.Time = p.Limits.Time
	}
	if !h.in.Call.Direct {
		caller, err := h.inst.Agents.Get(h.in.Call.Agent)
		if err != nil {
			return err
		}
		p.ceilings = permission.Policy{Ceilings: p.ceilings}.Below(callerPolicy(caller, *h.parent.current(), p.Rules)).Ceilings
	}
	p.Rules = childRunRules(p.Rules, agent)
	place := h.inst
	if h.child.Directory != h.parent.current().Directory {
		var err error
		if place, err = h.s.Instance(ctx, h.child.Directory); err != nil {
			return err
		}
	}
	p.Parts = append([]lathe.PartBody{&lathe.Text{Text: h.in.Prompt}}, taskFiles(place, h.in.Prompt, agent, h.child.Rules, p.ceilings)...)
	h.ask = p
	h.watch = newTaskWatch(h.in, h.child, p.Model)
	return nil
}

// run has the subagent do its work, and returns when it and those that work for it have
// ended. The end of ctx aborts it.
func (h *helper) run(ctx context.Context) (turn.Outcome, error) {
	leave, err := h.s.helpers.enter(ctx, h.child.ParentID, h.inst.Config.SubagentLimit)
	if err != nil {
		return turn.Outcome{}, err
	}
	defer leave()
	sub := h.s.opts.Bus.Subscribe(context.WithoutCancel(ctx), bus.Filter{SessionID: h.child.ID, Match: h.watch.wants}, bus.Limits{})
	defer sub.Close()
	h.watch.show()
	_, run, err := h.s.Prompt(ctx, h.child.ID, h.ask)
	if err != nil {
		return turn.Outcome{}, err
	}
	stop := context.AfterFunc(ctx, func() {
		if r := h.s.known(h.child.ID); r != nil {
			r.stopRun(run, context.Cause(ctx))
		}
		h.s.helpers.cancelBelow(h.child.ID, context.Cause(ctx))
	})
	defer stop()
	h.watch.follow(sub)
	out, err := run.Wait(context.WithoutCancel(ctx))
	for last := h.s.helpers.settle(ctx, h.child.ID); last != nil && err == nil; last = h.s.helpers.settle(ctx, h.child.ID) {
		out, err = last.Wait(context.WithoutCancel(ctx))
	}
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err != nil {
		return out, fmt.Errorf("run the subagent: %w", err)
	}
	return out, nil
}

// result is what the calling model is told of a call that waited.
func (h *helper) result(ctx context.Context) (builtin.SpawnResult, error) {
	out, err := h.run(ctx)
	if err != nil {
		return builtin.SpawnResult{}, err
	}
	res := builtin.SpawnResult{Session: h.child.ID, Text: lastText(out.Last), Failure: whyFailed(out), Metadata: h.watch.metadata()}
	res.Changes, err = h.finish(ctx)
	return res, err
}

// beside runs the helper after its call has returned, then tells the calling session.
func (h *helper) beside(ctx context.Context) {
	h.watch.call = &quietCall
	out, err := h.run(ctx)
	changes, failed := h.finish(ctx)
	if failed != nil {
		changes = failed.Error()
	}
	why := whyFailed(out)
	switch {
	case ctx.Err() != nil:
		return // whoever stopped it knows; the model is told with the next prompt
	case err != nil:
		why = err.Error()
	}
	h.tell(helperReport(h.child, lastText(out.Last), why, changes))
}

// tell hands a report to the calling session: the turn that is running takes it up at its
// next step, else one begins.
func (h *helper) tell(report string) {
	ctx := context.WithoutCancel(h.s.ctx)
	p := h.back
	p.Parts = []lathe.PartBody{synthetic(report)}
	_, run, err := h.s.Prompt(ctx, h.child.ParentID, p)
	if err != nil { // it is busy elsewhere, or gone: the next prompt tells it
		h.s.opts.Log.Warn("a session could not be told that its subagent has ended", "session", h.child.ParentID, "err", err)
		return
	}
	h.s.helpers.answers(h.child.ParentID, run)
	h.s.markTold(ctx, h.child.ID)
}

// helperReport is what the model is told of a subagent that worked beside it.
func helperReport(child lathe.Session, text, failure, changes string) string {
	state, what := "completed", cmp.Or(strings.TrimSpace(text), "(the subagent said nothing)")
	if failure != "" {
		state, what = "failed", failure
	}
	if changes != "" {
		what += "\n\n" + changes
	}
	return prompt.Reminder(fmt.Sprintf("The subagent %q, which worked in the background, has ended. What follows is its report, not a message of the user's.", child.Title) +
		fmt.Sprintf("\n<task id=\"%s\" state=\"%s\">\n<task_result>\n%s\n</task_result>\n</task>", html.EscapeString(string(child.ID)), state, what))
}

// ended tells whoever waits for the helpers of a session that there is one less.
func (h *helper) ended() {
	if sess, err := h.s.Get(context.WithoutCancel(h.s.ctx), h.child.ParentID); err == nil {
		h.s.opts.Writer.Tell(sess.Directory, lathe.SessionUpdated{Session: sess})
	}
}
