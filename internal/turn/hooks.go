package turn

import (
	"context"
	"encoding/json"

	"lathe"
	"lathe/internal/plugin"
	"lathe/internal/tool"
)

// params returns the settings of the step's request.
func (s *step) params(ctx context.Context) plugin.ChatParams {
	return s.Hooks.ChatParams(ctx, plugin.ChatParamsInput{
		SessionID: s.Session.ID, Agent: s.agent.Name, Model: s.modelRef(), Message: *s.user,
	}, plugin.ChatParams{Temperature: s.agent.Temperature, TopP: s.agent.TopP, Options: s.agent.Options})
}

// beforeCall returns the arguments of a call, checked after hooks had them.
func (s *step) beforeCall(ctx context.Context, r *running) (json.RawMessage, error) {
	input, err := s.Hooks.ToolBefore(ctx, s.toolInput(r, r.input))
	if err != nil {
		return nil, err
	}
	return s.tools.Check(r.name, input)
}

// afterCall passes a result through the hooks; an error that ended the call from
// outside is none of their business.
func (s *step) afterCall(ctx context.Context, r *running, input json.RawMessage, res tool.Result, err error) (tool.Result, error) {
	if err != nil {
		return res, err
	}
	if s.tools.Cut != nil {
		res = s.tools.Cut(res)
	}
	return s.Hooks.ToolAfter(ctx, s.toolInput(r, input), res), nil
}

func (s *step) toolInput(r *running, args json.RawMessage) plugin.ToolInput {
	return plugin.ToolInput{Tool: r.name, SessionID: s.Session.ID, CallID: r.callID, Args: args}
}

// completeText passes a text that the model ended through the hooks.
func (s *step) completeText(ctx context.Context, p *lathe.Part) {
	if p == nil || !s.Hooks.Has() {
		return
	}
	body, ok := p.Body.(*lathe.Text)
	if !ok || body.Time.End.IsZero() {
		return
	}
	done := *body
	done.Text = s.Hooks.TextComplete(ctx, plugin.TextInput{SessionID: p.SessionID, MessageID: p.MessageID, PartID: p.ID}, body.Text)
	s.mu.Lock()
	p.Body = &done
	s.mu.Unlock()
}

// userAsked reports whether the user named the subagent of a call with "@" in
// the message that is answered; the call is then not asked about.
func (s *step) userAsked(name string, input json.RawMessage) bool {
	if name != taskTool {
		return false
	}
	var in struct {
		Agent string `json:"subagent_type"`
	}
	if json.Unmarshal(input, &in) != nil {
		return false
	}
	for _, p := range s.user.Parts {
		if m, ok := p.Body.(*lathe.AgentMention); ok && m.Name == in.Agent {
			return true
		}
	}
	return false
}
