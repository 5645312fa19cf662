package turn

import (
	"context"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/plugin"
	"lathe/internal/prompt"
	"lathe/internal/provider"
)

// request builds the model request of the step from the history. The same
// history gives the same request, and a longer one only appends to it.
func (s *step) request(ctx context.Context) (*llm.Request, error) {
	info := s.user.Info.(*lathe.User)
	system, err := s.Host.System(ctx, s.agent, s.model, info)
	if err != nil {
		return nil, err
	}
	system = s.Hooks.System(ctx, plugin.SystemInput{SessionID: s.Session.ID, Agent: s.agent.Name, Model: s.modelRef()}, system)
	messages := prompt.Messages(s.Hooks.Messages(ctx, plugin.MessagesInput{SessionID: s.Session.ID}, s.History))
	req := &llm.Request{System: system, Choice: llm.ChoiceAuto, Tools: s.toolDefs()}
	if s.closing.nudge {
		messages, s.closing.nudge = note(messages, nudgeText), false
	}
	if s.last {
		messages, req.Choice = note(messages, prompt.MaxSteps()), llm.ChoiceNone
	}
	if len(req.Tools) == 0 {
		req.Choice = ""
	}
	req.Messages = s.model.Normalize(messages)
	params := s.params(ctx)
	s.model.Prepare(req, provider.Params{
		Temperature: params.Temperature, TopP: params.TopP, Options: params.Options,
		Variant: info.Model.Variant, SessionID: s.Session.ID,
	})
	return req, nil
}

// offered is how a set of tools is told to a model: the same in every step.
type offered struct {
	set   *Toolset
	model *provider.Model
	defs  []llm.Tool
}

// toolDefs returns what the model is offered. Nobody may change it.
func (s *step) toolDefs() []llm.Tool {
	if s.tools == nil {
		return nil
	}
	if o := &s.offered; o.set == s.tools && o.model == s.model {
		return o.defs
	}
	specs := s.tools.Specs()
	defs := make([]llm.Tool, len(specs))
	for i, sp := range specs {
		defs[i] = llm.Tool{Name: sp.Name, Description: sp.Description, Schema: s.model.Schema(sp.Schema)}
	}
	s.offered = offered{s.tools, s.model, defs}
	return defs
}
