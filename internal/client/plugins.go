package client

import (
	"context"

	"lathe/internal/api"
)

// Plugins returns the plugins, custom tools and hooks of the directory.
func (c plugins) Plugins(ctx context.Context) (api.Plugins, error) {
	return get(ctx, c.conn, "/lathe/plugin", nil, plain[api.Plugins])
}

// ChangePlugin adds, removes or updates a plugin; it installs what is missing.
func (c plugins) ChangePlugin(ctx context.Context, in api.PluginChange) (api.PluginChanged, error) {
	return post(ctx, c.conn, "/lathe/plugin", in, plain[api.PluginChanged])
}

// ForeignHooks returns the hooks in the settings of other tools.
func (c plugins) ForeignHooks(ctx context.Context) ([]api.ForeignHooks, error) {
	return get(ctx, c.conn, "/lathe/plugin/hooks", nil, plain[[]api.ForeignHooks])
}

// DecideHooks keeps what the person says of such hooks.
func (c plugins) DecideHooks(ctx context.Context, in api.HooksDecision) error {
	_, err := post(ctx, c.conn, "/lathe/plugin/hooks/decision", in, plain[bool])
	return err
}
