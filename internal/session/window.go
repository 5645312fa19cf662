package session

import (
	"context"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/provider"
	"lathe/internal/turn"
	"lathe/internal/window"
)

// Window weighs what a session would send with its next request.
func (s *Service) Window(ctx context.Context, id lathe.SessionID) (*window.Weight, error) {
	r, err := s.runner(ctx, id)
	if err != nil {
		return nil, err
	}
	sess, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	agent, err := r.inst.PickAgent("", sess.Agent)
	if err != nil {
		return nil, err
	}
	ref, err := r.inst.PickModel(ctx, lathe.ModelRef{}, agent, sess.Model)
	if err != nil {
		return nil, err
	}
	model, err := r.inst.Model(ref)
	if err != nil {
		return nil, err
	}
	history, err := s.Live(ctx, id)
	if err != nil {
		return nil, err
	}
	h := &host{runner: r, toolsets: map[string]*turn.Toolset{}}
	user := &lathe.User{Agent: agent.Name, Model: ref}
	system, err := h.System(ctx, agent.Agent, model, user)
	if err != nil {
		return nil, err
	}
	var defs []llm.Tool
	for _, sp := range h.Tools(agent.Agent, model, user).Specs() {
		defs = append(defs, llm.Tool{Name: sp.Name, Description: sp.Description, Schema: model.Schema(sp.Schema)})
	}
	out := &window.Weight{Session: sess, Model: ref, Context: model.Limit.Context,
		Usable: turn.Usable(model, r.turnContext(ctx).Settings)}
	if out.Stats, err = s.ContextStats(ctx, id); err != nil {
		return nil, err
	}
	out.Weigh(window.Input{Model: model, System: system, Tools: defs, History: history}, r.window.Correction(model.Ref))
	return out, nil
}

// ContextStats returns what became of a session's window so far.
func (s *Service) ContextStats(ctx context.Context, id lathe.SessionID) (window.Stats, error) {
	return window.LoadStats(ctx, s.opts.Store, id)
}

// Live returns the messages that a model still sees something of, oldest first.
func (s *Service) Live(ctx context.Context, id lathe.SessionID) ([]lathe.Message, error) {
	return s.opts.Store.Tail(ctx, id)
}

// System returns the session's system blocks for an agent and a model.
func (h *host) System(ctx context.Context, a turn.Agent, m *provider.Model, u *lathe.User) ([]string, error) {
	return h.window.System(ctx, a, m, h.inst.Offering(a, h.rulesOf(a)), u.System)
}

// reminders returns what the model has to be told before it answers for the agent.
func (r *runner) reminders(ctx context.Context, agent string) []string {
	notes, before := r.window.Reminders(ctx, agent)
	return append(notes, planNotes(r.inst, *r.current(), before, agent)...)
}
