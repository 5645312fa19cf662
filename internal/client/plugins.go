package client

import (
	"context"
	"net/url"

	"lathe/internal/api"
)

// Plugins returns the plugins, custom tools and hooks of the directory.
func (c directory) Plugins(ctx context.Context) (api.Plugins, error) {
	return get(ctx, c.conn, "/lathe/plugin", nil, plain[api.Plugins])
}

// ChangePlugin adds, removes or updates a plugin; it installs what is missing.
func (c directory) ChangePlugin(ctx context.Context, in api.PluginChange) (api.PluginChanged, error) {
	return post(ctx, c.conn, "/lathe/plugin", in, plain[api.PluginChanged])
}

// LoginMethods returns the ways to log in that plugins bring, by provider.
func (c directory) LoginMethods(ctx context.Context) (map[string][]api.LoginMethod, error) {
	return get(ctx, c.conn, "/provider/auth", nil, plain[map[string][]api.LoginMethod])
}

// BeginProviderLogin begins a login by one of a provider's methods.
func (c directory) BeginProviderLogin(ctx context.Context, provider string, method int, inputs map[string]string) (api.LoginBegun, error) {
	return post(ctx, c.conn, "/provider/"+url.PathEscape(provider)+"/oauth/authorize", map[string]any{"method": method, "inputs": inputs}, plain[api.LoginBegun])
}

// EndProviderLogin waits until a login is done, with what the person brought back.
func (c directory) EndProviderLogin(ctx context.Context, provider string, method int, code string) error {
	_, err := post(ctx, c.conn, "/provider/"+url.PathEscape(provider)+"/oauth/callback", map[string]any{"method": method, "code": code}, plain[bool])
	return err
}

// ForeignHooks returns the hooks in the settings of other tools.
func (c directory) ForeignHooks(ctx context.Context) ([]api.ForeignHooks, error) {
	return get(ctx, c.conn, "/lathe/plugin/hooks", nil, plain[[]api.ForeignHooks])
}

// DecideHooks keeps what the person says of such hooks.
func (c directory) DecideHooks(ctx context.Context, in api.HooksDecision) error {
	_, err := post(ctx, c.conn, "/lathe/plugin/hooks/decision", in, plain[bool])
	return err
}
