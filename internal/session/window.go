package session

import (
	"context"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/llm"
	"lathe/internal/permission"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/turn"
	"lathe/internal/window"
)

// Windows says what models see and saw of sessions, and what that cost.
type Windows struct{ s *Service }

// Of says what a session would send with its next request, and what it has cost so far.
func (v *Windows) Of(ctx context.Context, id lathe.SessionID) (api.Window, error) {
	r, err := v.s.runner(ctx, id)
	if err != nil {
		return api.Window{}, err
	}
	sess, err := v.s.Get(ctx, id)
	if err != nil {
		return api.Window{}, err
	}
	agent, err := r.inst.Agents.Pick("", sess.Agent)
	if err != nil {
		return api.Window{}, err
	}
	models, err := r.inst.Models.For(ctx)
	if err != nil {
		return api.Window{}, err
	}
	ref, err := models.Pick(ctx, lathe.ModelRef{}, agent, sess.Model)
	if err != nil {
		return api.Window{}, err
	}
	model, err := models.Get(ref)
	if err != nil {
		return api.Window{}, err
	}
	history, err := v.Live(ctx, id)
	if err != nil {
		return api.Window{}, err
	}
	h := &host{runner: r, toolsets: map[string]*turn.Toolset{}}
	user := &lathe.User{Agent: agent.Name, Model: ref}
	system, err := h.System(ctx, agent.Agent, model, user)
	if err != nil {
		return api.Window{}, err
	}
	var defs []llm.Tool
	for _, sp := range h.Tools(agent.Agent, model, user).Specs() {
		defs = append(defs, llm.Tool{Name: sp.Name, Description: sp.Description, Schema: model.Schema(sp.Schema)})
	}
	settings := r.turnContext(ctx).Settings
	out := window.Weigh(window.Input{Model: model, System: system, Tools: defs, History: history, Usable: turn.Usable(model, settings), Compact: settings}, r.window.Correction(model.Ref))
	out.SessionID, out.Title, out.Model = sess.ID, sess.Title, ref.String()
	out.Unpriced = !model.Priced()
	if out.Budget, err = r.budgetUse(ctx); err != nil {
		return api.Window{}, err
	}
	if out.Stats, err = v.Stats(ctx, id); err != nil {
		return api.Window{}, err
	}
	cache := &out.Stats.Cache
	out.Compactions, out.Prunes = out.Stats.Compactions, out.Stats.Prunes
	out.CacheRead, out.CacheWritten, out.CacheFresh = cache.Read, cache.Written, cache.Fresh
	all, err := v.s.Messages(ctx, id, 0)
	out.ByModel = window.ByModel(all)
	return out, err
}

// Stats returns what has happened to a session's window so far.
func (v *Windows) Stats(ctx context.Context, id lathe.SessionID) (api.WindowStats, error) {
	return window.LoadStats(ctx, v.s.opts.Store, id)
}

// Live returns the messages that a model still sees, at least in part, oldest first.
func (v *Windows) Live(ctx context.Context, id lathe.SessionID) ([]lathe.Message, error) {
	return v.s.opts.Store.Tail(ctx, id)
}

// System returns the session's system blocks for an agent and a model.
func (h *host) System(ctx context.Context, a turn.Agent, m *provider.Model, u *lathe.User) ([]string, error) {
	return h.window.System(ctx, a, m, h.inst.Agents.Offering(a, h.rulesOf(a)), u.System)
}

// reminders returns what the model has to be told before it answers as the agent.
func (r *runner) reminders(ctx context.Context, agent string, p Prompt) []string {
	var alone *bool
	if p.Parts != nil { // otherwise no client sent it
		alone = new(nobody(r.current().Rules, p.Rules))
	}
	notes, before := r.window.Reminders(ctx, agent, alone, r.news.planOnly(ctx))
	if told := p.Limits.Told(); told != "" && r.current().ParentID == "" {
		notes = append(notes, prompt.Reminder(told))
	}
	if r.s.opts.Jobs != nil {
		r.s.opts.Jobs.Recall(r.current().ID)
	}
	if told := r.news.jobs(); told != "" {
		notes = append(notes, told)
	}
	notes = append(notes, r.news.helpers(ctx)...)
	return append(notes, planNotes(r.inst, *r.current(), before, agent, alone != nil && *alone)...)
}

// nobody reports whether the rules of a session or a run say that questions cannot be
// answered, as clients without a person declare.
func nobody(rules ...[]lathe.Rule) bool {
	return permission.Evaluate("question", "*", rules...).Action == lathe.Deny
}
