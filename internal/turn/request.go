package turn

import (
	"context"

	"lathe"
	"lathe/internal/llm"
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
	messages := prompt.Messages(s.History)
	req := &llm.Request{System: system, Choice: llm.ChoiceAuto, Tools: s.toolDefs()}
	if s.last {
		messages = append(messages, llm.Message{Role: llm.RoleUser, Content: []llm.Content{
			llm.Text{Text: prompt.Reminder(prompt.MaxSteps())},
		}})
		req.Choice = llm.ChoiceNone
	}
	if len(req.Tools) == 0 {
		req.Choice = ""
	}
	req.Messages = s.model.Normalize(messages)
	s.model.Prepare(req, provider.Params{
		Temperature: s.agent.Temperature, TopP: s.agent.TopP, Options: s.agent.Options,
		Variant: info.Model.Variant, SessionID: s.Session.ID,
	})
	return req, nil
}

func (s *step) toolDefs() []llm.Tool {
	if s.tools == nil {
		return nil
	}
	specs := s.tools.Specs()
	defs := make([]llm.Tool, len(specs))
	for i, sp := range specs {
		defs[i] = llm.Tool{Name: sp.Name, Description: sp.Description, Schema: s.model.Schema(sp.Schema)}
	}
	return defs
}
