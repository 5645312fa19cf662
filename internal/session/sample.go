package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/commit"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/mcp"
	"lathe/internal/people"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/tool"
)

// maxSampled bounds the answer that an MCP server gets, in tokens and bytes.
const (
	maxSampled      = 8192
	maxSampledBytes = 1 << 20
)

// sent is called with each request before it is made. While the model answers, servers
// about which nothing is known yet are asked what they offer.
func (r *runner) sent(req *llm.Request) {
	r.window.Sent(req)
	r.inst.MCP.Warm()
}

// Sample lets the model of a call's session answer a server. Its cost counts towards
// the call's step.
func (s sessions) Sample(ctx context.Context, i *instance.Instance, call *tool.Call, in mcp.Sampling) (mcp.Sampled, error) {
	if call.Spend != nil {
		if err := call.Spend(0, lathe.Tokens{}); err != nil {
			return mcp.Sampled{}, err
		}
	}
	m, err := i.Models.GetFor(people.With(ctx, askedBy(call)), call.Model)
	if err != nil {
		return mcp.Sampled{}, err
	}
	if err := s.affords(ctx, call, m); err != nil {
		return mcp.Sampled{}, err
	}
	req := &llm.Request{Messages: m.Normalize(sampleMessages(in)), MaxTokens: min(max(in.MaxTokens, 1), maxSampled)}
	if in.System != "" {
		req.System = []string{in.System}
	}
	params := provider.Params{SessionID: call.SessionID}
	if in.Temperature > 0 {
		params.Temperature = &in.Temperature
	}
	limit := req.MaxTokens
	m.Prepare(req, params)
	req.MaxTokens = limit
	out := mcp.Sampled{Model: m.Ref.Model}
	var text strings.Builder
	for ev, err := range m.LLM.Stream(ctx, req) {
		if err != nil {
			return out, fmt.Errorf("the model did not answer the server: %w", err)
		}
		switch ev := ev.(type) {
		case llm.TextDelta:
			if text.Len()+len(ev.Text) > maxSampledBytes {
				return out, errors.New("the model's answer to the server is too long")
			}
			text.WriteString(ev.Text)
		case llm.Finish:
			out.Cut = ev.Reason == llm.FinishLength
			used := m.Tokens(ev.Usage)
			if call.Spend != nil {
				_ = call.Spend(m.Cost(used), used) // if this reached the limit, the next one is refused
			}
			s.keepSampled(ctx, call, m, used)
		}
	}
	out.Text = text.String()
	return out, nil
}

// keepSampled counts the tokens of an answer to a server; what they cost is in the call's step.
func (s sessions) keepSampled(ctx context.Context, call *tool.Call, m *provider.Model, used lathe.Tokens) {
	r, err := s.runner(ctx, call.SessionID)
	if err != nil {
		return // the session is gone
	}
	cost := lathe.Money(0)
	if call.Spend == nil {
		cost = m.Cost(used)
	}
	keepSpent(ctx, s.opts, *r.current(), forSampling, m, cost, used)
}

// affords returns why the configured budget allows no further request of a call. The person
// is asked as before a step.
func (s sessions) affords(ctx context.Context, call *tool.Call, m *provider.Model) error {
	r, err := s.runner(ctx, call.SessionID)
	if err != nil {
		return err
	}
	if p := r.purse(); p != nil {
		if f := p.check(ctx, m, call.Ask); f != nil {
			return f
		}
	}
	return nil
}

func sampleMessages(in mcp.Sampling) []llm.Message {
	var out []llm.Message
	for _, said := range in.Messages {
		m := llm.Message{Role: llm.RoleUser}
		if said.Model {
			m.Role = llm.RoleAssistant
		}
		if said.Text != "" {
			m.Content = append(m.Content, llm.Text{Text: said.Text})
		}
		if said.File != nil && !said.Model {
			if data, ok := prompt.DataURL(said.File.URL); ok {
				m.Content = append(m.Content, llm.Media{MIME: said.File.MIME, Data: data})
			}
		}
		if len(m.Content) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// RefreshServers makes a session use what the tool servers offer now. It returns what
// that changes and about how many tokens have to be sent again for it.
func (v *Windows) RefreshServers(ctx context.Context, id lathe.SessionID) (api.MCPRefreshed, error) {
	r, err := v.s.runner(ctx, id)
	if err != nil {
		return api.MCPRefreshed{}, err
	}
	out, err := r.window.Refresh(ctx)
	if err != nil || len(out.Added)+len(out.Gone)+len(out.Changed) == 0 {
		return out, err
	}
	if w, err := v.Of(ctx, id); err == nil {
		out.Resent = w.Used
	}
	return out, v.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error { return r.window.SaveFrozen(tx) })
}

// askedBy returns on whose behalf a call runs: that of who sent the newest prompt before it.
func askedBy(call *tool.Call) string {
	for _, m := range slices.Backward(call.Messages) {
		if u, ok := m.Info.(*lathe.User); ok {
			return u.By
		}
	}
	return ""
}
