package client

import (
	"context"

	"lathe/internal/api"
)

// Setup returns how lathe is set up for the directory.
func (c directory) Setup(ctx context.Context) (api.Setup, error) {
	return get(ctx, c.conn, "/lathe/setup", nil, plain[api.Setup])
}

// Checks looks at what lathe needs to work, for the directory.
func (c directory) Checks(ctx context.Context) ([]api.Check, error) {
	return get(ctx, c.conn, "/lathe/check", nil, plain[[]api.Check])
}

// Found returns what could answer on the engine's machine.
func (c directory) Found(ctx context.Context) (api.Found, error) {
	return get(ctx, c.conn, "/lathe/found", nil, plain[api.Found])
}
