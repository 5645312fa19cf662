package turn

import (
	"context"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/plugin"
	"lathe/internal/prompt"
	"lathe/internal/provider"
)

// draft is the turn's next request for the cast: what it says, what it weighs, and what is cut so
// that it fits.
type draft struct {
	*Turn
	cast
	last bool // the agent's step limit: no more tools after this
}

// request builds the model request of the step from the history. The same
// history gives the same request, and a longer one only appends to it.
func (d *draft) request(ctx context.Context) (*llm.Request, error) {
	info := d.user.Info.(*lathe.User)
	system, err := d.Host.System(ctx, d.agent, d.model, info)
	if err != nil {
		return nil, err
	}
	system = d.Hooks.System(ctx, plugin.SystemInput{SessionID: d.Session.ID, Agent: d.agent.Name, Model: d.modelRef()}, system)
	messages := prompt.Messages(d.Hooks.Messages(ctx, plugin.MessagesInput{SessionID: d.Session.ID}, d.History))
	req := &llm.Request{System: system, Choice: llm.ChoiceAuto, Tools: d.toolDefs(ctx)}
	if d.closing.nudge != "" {
		messages, d.closing.nudge = note(messages, d.closing.nudge), ""
	}
	if d.last {
		messages, req.Choice = note(messages, prompt.MaxSteps()), llm.ChoiceNone
	}
	if len(req.Tools) == 0 {
		req.Choice = ""
	}
	req.Messages = d.model.Normalize(messages)
	params := d.params(ctx)
	d.model.Prepare(req, provider.Params{
		Temperature: params.Temperature, TopP: params.TopP, Options: params.Options,
		Variant: d.ref.Variant, SessionID: d.Session.ID,
	})
	d.hookedParams(ctx, req, params)
	return req, nil
}

// offered is a set of tools as the model is given it: the same in every step.
type offered struct {
	set   *Toolset
	model *provider.Model
	defs  []llm.Tool
}

// toolDefs returns what the model is offered. It must not be changed.
func (d *draft) toolDefs(ctx context.Context) []llm.Tool {
	if d.tools == nil {
		return nil
	}
	if o := &d.offered; o.set == d.tools && o.model == d.model {
		return o.defs
	}
	specs := d.tools.Specs()
	defs := make([]llm.Tool, len(specs))
	for i, sp := range specs {
		told := d.Hooks.ToolDefinition(ctx, plugin.ToolDefinitionInput{Tool: sp.Name}, plugin.ToolDefinition{Description: sp.Description, Schema: sp.Schema})
		sp.Description, sp.Schema = told.Description, told.Schema
		defs[i] = llm.Tool{Name: sp.Name, Description: sp.Description, Schema: d.model.Schema(sp.Schema)}
	}
	d.offered = offered{d.tools, d.model, defs}
	return defs
}
