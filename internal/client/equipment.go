package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"lathe/internal/api"
)

// RuledAgents returns the agents, hidden ones too, with the rules that hold for them.
func (c directory) RuledAgents(ctx context.Context) ([]api.RuledAgent, error) {
	return get(ctx, c.conn, "/lathe/agent", nil, plain[[]api.RuledAgent])
}

// DraftAgent lets a model design an agent; an empty name means the default model.
func (c directory) DraftAgent(ctx context.Context, description, model string) (api.AgentDraft, error) {
	return post(ctx, c.conn, "/lathe/agent/draft", map[string]string{"description": description, "model": model}, plain[api.AgentDraft])
}

// Tools returns the names of the tools.
func (c directory) Tools(ctx context.Context) ([]string, error) {
	return get(ctx, c.conn, "/experimental/tool/ids", nil, plain[[]string])
}

// NamedCommands returns the commands and where they come from.
func (c directory) NamedCommands(ctx context.Context) ([]api.NamedCommand, error) {
	return get(ctx, c.conn, "/lathe/command", nil, plain[[]api.NamedCommand])
}

// Config returns the configuration that holds for the directory.
func (c directory) Config(ctx context.Context) (api.Config, error) {
	return get(ctx, c.conn, "/lathe/config/effective", nil, plain[api.Config])
}

// Catalog returns models of the catalogue.
func (c directory) Catalog(ctx context.Context, f api.ModelFilter) (api.ModelList, error) {
	q := url.Values{"provider": {f.Provider}, "all": {strconv.FormatBool(f.All)}, "details": {strconv.FormatBool(f.Details)}}
	return get(ctx, c.conn, "/lathe/catalog", q, plain[api.ModelList])
}

// RefreshCatalog fetches the newest catalogue.
func (c directory) RefreshCatalog(ctx context.Context) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe/catalog/refresh", nil, nil)
	return err
}
