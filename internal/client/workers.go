package client

import (
	"context"

	"lathe/internal/api"
)

// Workers returns who offers directories to the servers that share the store, and what they do.
func (c sessions) Workers(ctx context.Context) (api.Workers, error) {
	return get(ctx, c.conn, "/lathe/workers", nil, plain[api.Workers])
}
