package session

import (
	"context"

	"lathe"
	"lathe/internal/api"
)

// Designs lets models design agents. It writes nothing.
type Designs struct{ s *Service }

// Agent asks a model to design an agent from a description; an empty name means the default
// model. What it cost is counted, also when the answer is of no use. The error says so if
// there is no model to ask, or the budget is used up.
func (d *Designs) Agent(ctx context.Context, dir, model, description string) (api.AgentDraft, error) {
	inst, err := d.s.Instance(ctx, dir)
	if err != nil {
		return api.AgentDraft{}, err
	}
	m, err := inst.DesignModel(ctx, model)
	if err != nil {
		return api.AgentDraft{}, err
	}
	if err := affordsBeside(ctx, d.s, inst, m); err != nil {
		return api.AgentDraft{}, err
	}
	draft, used, err := inst.DesignAgent(ctx, m, description)
	keepSpent(ctx, d.s.opts, lathe.Session{ProjectID: inst.Project.ID, Directory: inst.Root.Dir}, forDesign, m, m.Cost(used), used)
	return api.AgentDraft(draft), err
}
