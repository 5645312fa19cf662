package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
)

// Agents returns the agents, hidden ones too.
func (c directory) Agents(ctx context.Context) ([]api.Agent, error) {
	return get(ctx, c.conn, "/agent", nil, wire.DecodeAgents)
}

// Commands returns the commands of the directory.
func (c directory) Commands(ctx context.Context) ([]api.Command, error) {
	return get(ctx, c.conn, "/command", nil, plain[[]api.Command])
}

// Models returns the models that can be called.
func (c directory) Models(ctx context.Context) ([]api.Model, error) {
	return get(ctx, c.conn, "/lathe/model", nil, plain[[]api.Model])
}

// ParseModel returns the model that a person means by a text.
func (c directory) ParseModel(ctx context.Context, text string) (lathe.ModelRef, error) {
	m, err := get(ctx, c.conn, "/lathe/model/parse", url.Values{"name": {text}}, plain[api.Model])
	return m.Ref(), err
}

// Providers returns the providers that could be connected.
func (c directory) Providers(ctx context.Context) ([]api.Provider, error) {
	return get(ctx, c.conn, "/lathe/provider", nil, plain[[]api.Provider])
}

// Files returns the files and directories of the project that match best;
// directories end in a slash.
func (c directory) Files(ctx context.Context, query string, limit int) ([]string, error) {
	return get(ctx, c.conn, "/lathe/file", url.Values{"query": {query}, "limit": {strconv.Itoa(limit)}}, plain[[]string])
}

// Symbols returns what language servers that run know by a name.
func (c directory) Symbols(ctx context.Context, query string) ([]api.Symbol, error) {
	return get(ctx, c.conn, "/find/symbol", url.Values{"query": {query}}, plain[[]api.Symbol])
}

// Notices returns what a person should know about the directory's configuration.
func (c directory) Notices(ctx context.Context) (api.Notices, error) {
	return get(ctx, c.conn, "/lathe/notice", nil, plain[api.Notices])
}

// Settings returns the parts of the directory's configuration that a screen needs.
func (c directory) Settings(ctx context.Context) (json.RawMessage, error) {
	return c.call(ctx, http.MethodGet, "/lathe/config", nil, nil)
}

// Branch returns the branch that is checked out, empty without one.
func (c directory) Branch(ctx context.Context) (string, error) {
	out, err := get(ctx, c.conn, "/vcs", nil, plain[struct{ Branch string }])
	return out.Branch, err
}

// Paths returns where the server works.
func (c directory) Paths(ctx context.Context) (api.Paths, error) {
	return get(ctx, c.conn, "/path", nil, plain[api.Paths])
}
