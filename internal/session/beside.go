package session

import (
	"context"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/provider"
	"lathe/internal/store"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// What models are asked for beside the answers, as statistics tell it.
const (
	forTitle    = "title"
	forLessons  = "learn"
	forSampling = "sampling"
	forDesign   = "agent create"
)

// affordsBeside returns why the configured budgets of the day and the project allow no request
// that belongs to no session.
func affordsBeside(ctx context.Context, s *Service, inst *instance.Instance, m *provider.Model) error {
	none := lathe.Session{ID: s.opts.IDs.Session(), ProjectID: inst.Project.ID, Directory: inst.Root.Dir, Created: s.opts.Now()}
	p := newPurse(newRunner(s, none, inst), &turn.Spent{})
	if p == nil {
		return nil
	}
	p.budget.Session = config.Allowance{}
	if f := p.check(ctx, m, func(context.Context, tool.Request) error { return errOverBudget }); f != nil {
		return lathe.Errorf(lathe.CodeLimit, "see what is used with: lathe context", "%s", f.Error())
	}
	return nil
}

// addSpent counts, for statistics and budgets, what a model was asked beside the messages of a
// session, or of no session if it has no identifier.
func addSpent(tx store.MessageWriter, o Options, of lathe.Session, what string, m *provider.Model, cost lathe.Money, used lathe.Tokens) error {
	if cost == 0 && used == (lathe.Tokens{}) {
		return nil
	}
	return tx.AddSpent(o.IDs.Message(), store.Answer{
		Session: of.ID, Project: of.ProjectID, Directory: of.Directory, Created: o.Now(),
		Assistant: &lathe.Assistant{Agent: what, Model: m.Ref, Cost: cost, Tokens: used},
	})
}

// keepSpent is addSpent in a transaction of its own. That it fails is logged: what was asked for
// is there.
func keepSpent(ctx context.Context, o Options, of lathe.Session, what string, m *provider.Model, cost lathe.Money, used lathe.Tokens) {
	err := o.Writer.Commit(context.WithoutCancel(ctx), func(tx *commit.Tx) error { return addSpent(tx, o, of, what, m, cost, used) })
	if err != nil {
		o.Log.Warn("what a model was asked is not counted", "session", of.ID, "model", m.Ref, "err", err)
	}
}
