package client

import (
	"context"

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
