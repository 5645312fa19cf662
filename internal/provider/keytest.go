package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/catalog"
	"lathe/internal/llm"
	"lathe/internal/tool"
)

const testPatience = 20 * time.Second

// TestKey asks the cheapest model of a connected provider for one word and reports
// the outcome, within 20 s. The error says that there is no model to ask.
func (r *Registry) TestKey(ctx context.Context, id string) (api.KeyTest, error) {
	m, err := r.testModel(id)
	if err != nil {
		return api.KeyTest{}, err
	}
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "Answer with the word ok."}}}}}
	m.Prepare(req, Params{Small: true, Client: "cli"})
	req.MaxTokens = 64
	ctx, cancel := context.WithTimeoutCause(ctx, testPatience, fmt.Errorf("no answer within %s", testPatience))
	defer cancel()
	for _, err := range m.LLM.Stream(ctx, req) {
		if err != nil {
			return judgeKey(m, err), nil
		}
		break // it answers; that is enough
	}
	return api.KeyTest{Outcome: api.KeyAccepted, Model: m.Ref.String()}, nil
}

// TryKey is [Registry.TestKey] with a key that is not stored, in place of the one that is.
func (r *Registry) TryKey(ctx context.Context, id, key string) (api.KeyTest, error) {
	o := r.o
	o.Own = maps.Clone(o.Own)
	if o.Own == nil {
		o.Own = map[string]auth.Entry{}
	}
	o.Own[id] = auth.API{Key: auth.NewSecret(key)}
	tried, err := New(o)
	if err != nil {
		return api.KeyTest{}, err
	}
	return tried.TestKey(ctx, id)
}

// KeyRefused is the error of a key that its provider refused, and that is not stored therefore.
func KeyRefused(id string, t api.KeyTest) error {
	return lathe.Errorf(lathe.CodeAuth, "copy it again from the provider's console, or store it all the same with --no-check (over HTTP: ?check=false)",
		"%s refused the key, which is not stored: %s", id, t.Detail)
}

// testModel returns the cheapest model of a provider that answers with text.
func (r *Registry) testModel(id string) (*Model, error) {
	list, err := r.List()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(p *Provider) bool { return p.ID == id })
	if i < 0 {
		return nil, lathe.Errorf(lathe.CodeNotFound, "", "provider %s is not connected", tool.CutHead(id, 80))
	}
	var best *Model
	for _, m := range list[i].Models {
		if !m.Caps.ToolCall || !m.Caps.Output.Has(catalog.Text) || m.Status == "deprecated" {
			continue
		}
		if best == nil || m.Price.For(0).Output < best.Price.For(0).Output {
			best = m
		}
	}
	if best == nil {
		return nil, lathe.Errorf(lathe.CodeNotFound, "", "provider %s has no model that could be asked", tool.CutHead(id, 80))
	}
	if best.Price.For(0).Output > 0 {
		if small := r.Small(best.Ref); small.Provider == id {
			best = &Model{Ref: small}
		}
	}
	return r.Lookup(best.Ref)
}

// judgeKey says what a failed request reveals about the key.
func judgeKey(m *Model, err error) api.KeyTest {
	out := api.KeyTest{Outcome: api.KeyUnknown, Model: m.Ref.String(), Detail: tool.CutHead(err.Error(), 300)}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		out.Hint = "try again"
		return out
	}
	switch e.Kind {
	case llm.KindAuth:
		out.Outcome, out.Hint = api.KeyRefused, "copy it again from the provider's console; it must be an API key, and allowed to use "+m.APIID
	case llm.KindNetwork, llm.KindTimeout:
		out.Hint = "look at the network, a proxy, and the provider's address"
	case llm.KindRateLimit:
		out.Outcome, out.Hint = api.KeyAccepted, "the provider asks to wait"
	case llm.KindQuota:
		out.Hint = "the key is known, but its account has no credit"
	case llm.KindInvalid:
		out.Hint = "the provider knows the key, but refused this request; another model may work"
	default:
		out.Hint = "try again later"
	}
	return out
}
