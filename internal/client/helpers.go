package client

import (
	"context"

	"lathe"
	"lathe/internal/api"
)

// Tree returns a session with all the subagents below it.
func (c sessions) Tree(ctx context.Context, id lathe.SessionID) (api.Helper, error) {
	if err := plausible(id); err != nil {
		return api.Helper{}, err
	}
	return get(ctx, c.conn, "/lathe"+sessionPath(id)+"/tree", nil, plain[api.Helper])
}
