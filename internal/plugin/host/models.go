package host

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// modelsLimit is how long a plugin may take to say which models a provider has.
const modelsLimit = 15 * time.Second

// Providers returns the providers whose models plugins make, each once.
func (h *Host) Providers() (out []string) {
	for _, p := range h.Plugins() {
		for _, id := range p.Providers {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// Models has the plugins that make the models of a provider do so, one after the other,
// and returns them by identifier, in OpenCode's shape. Info describes the provider; given
// its models, which each plugin may change, it returns the description with them.
func (h *Host) Models(ctx context.Context, id string, info func(models map[string]json.RawMessage) any, models map[string]json.RawMessage) map[string]json.RawMessage {
	var auth any
	if h.o.Credential != nil {
		auth = h.o.Credential(id)
	}
	for i, p := range h.Plugins() {
		if !slices.Contains(p.Providers, id) {
			continue
		}
		h.mu.Lock()
		index := h.index(i)
		h.mu.Unlock()
		raw, err := h.callWithin(ctx, modelsLimit, "models", map[string]any{"plugin": index, "id": id, "provider": info(models), "auth": auth})
		var made map[string]json.RawMessage
		if err == nil {
			err = json.Unmarshal(raw, &made)
		}
		if err != nil || made == nil {
			h.o.Report(p.Name, &modelsFailed{id, err})
			continue
		}
		models = made
	}
	return models
}

// modelsFailed says that a plugin did not say which models a provider has.
type modelsFailed struct {
	provider string
	err      error
}

// Error names the provider.
func (e *modelsFailed) Error() string {
	if e.err == nil {
		return "it left no models of " + e.provider
	}
	return "the models of " + e.provider + " are as they were: " + e.err.Error()
}

// Unwrap returns why.
func (e *modelsFailed) Unwrap() error { return e.err }
