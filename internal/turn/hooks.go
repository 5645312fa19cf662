package turn

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/permission"
	"lathe/internal/plugin"
	"lathe/internal/tool"
)

// params returns the settings of the step's request.
func (d *draft) params(ctx context.Context) plugin.ChatParams {
	return d.Hooks.ChatParams(ctx, d.chatInput(), plugin.ChatParams{Temperature: d.agent.Temperature, TopP: d.agent.TopP, Options: d.agent.Options})
}

func (d *draft) chatInput() plugin.ChatParamsInput {
	return plugin.ChatParamsInput{SessionID: d.Session.ID, Agent: d.agent.Name, Model: d.modelRef(), Message: *d.user}
}

// hookedParams applies settings from hooks that the model's own settings do not cover.
func (d *draft) hookedParams(ctx context.Context, req *llm.Request, p plugin.ChatParams) {
	if p.TopK != nil {
		req.TopK = p.TopK
	}
	if p.MaxOutput != nil && *p.MaxOutput > 0 {
		req.MaxTokens = *p.MaxOutput
	}
	if d.Hooks.Has() {
		req.Headers = d.Hooks.ChatHeaders(ctx, d.chatInput(), req.Headers)
	}
}

// beforeCall returns the arguments of a call, checked after hooks had a chance to change them, and
// whether a hook wants the person to be asked.
func (r *running) beforeCall(ctx context.Context) (json.RawMessage, *plugin.Doubt, error) {
	input, err := r.s.Hooks.ToolBefore(ctx, r.toolInput(r.input))
	doubt, doubted := errors.AsType[*plugin.Doubt](err)
	if err != nil && !doubted {
		return nil, nil, err
	}
	input, err = r.s.tools.Check(r.name, input)
	return input, doubt, err
}

// settleDoubt asks the person about a call that a hook is in doubt about, whatever the rules allow.
func (r *running) settleDoubt(ctx context.Context, doubt *plugin.Doubt, input json.RawMessage) error {
	if doubt == nil {
		return nil
	}
	ask := lathe.Rule{Permission: plugin.DoubtPermission, Pattern: "*", Action: lathe.AskMe}
	return r.s.Host.Ask(ctx, permission.AskInput{
		SessionID: r.s.Session.ID,
		Tool:      &lathe.ToolRef{MessageID: r.s.msg.ID, CallID: r.callID},
		Request: tool.Request{
			Permission: plugin.DoubtPermission, Patterns: []string{r.name},
			Metadata: map[string]any{"tool": r.name, "input": input, "reason": doubt.Error()},
		},
		Policy: permission.Policy{Rules: append(slices.Clone(r.s.agent.Rules), ask), Ceilings: r.s.tools.Ceilings},
	})
}

// afterCall passes a result through the hooks; an error that ended the call from outside does not
// concern them.
func (r *running) afterCall(ctx context.Context, input json.RawMessage, res tool.Result, err error) (tool.Result, error) {
	if err != nil {
		return res, err
	}
	if r.s.tools.Cut != nil {
		res = r.s.tools.Cut(res)
	}
	return r.s.Hooks.ToolAfter(ctx, r.toolInput(input), res), nil
}

func (r *running) toolInput(args json.RawMessage) plugin.ToolInput {
	return plugin.ToolInput{Tool: r.name, SessionID: r.s.Session.ID, CallID: r.callID, Args: args}
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

// userAsked reports whether the user named the subagent of a call with "@" in the message being
// answered; the call then needs no permission.
func (r *running) userAsked(input json.RawMessage) bool {
	if r.name != taskTool {
		return false
	}
	var in struct {
		Agent string `json:"subagent_type"`
	}
	if json.Unmarshal(input, &in) != nil {
		return false
	}
	for _, p := range r.s.user.Parts {
		if m, ok := p.Body.(*lathe.AgentMention); ok && m.Name == in.Agent {
			return true
		}
	}
	return false
}
