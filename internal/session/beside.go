package session

import (
	"context"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/provider"
	"lathe/internal/store"
)

// What models are asked for beside the answers, as statistics tell it.
const (
	forTitle    = "title"
	forLessons  = "learn"
	forSampling = "sampling"
)

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
