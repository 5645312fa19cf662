package client

import (
	"context"

	"lathe"
	"lathe/internal/api"
)

// ApprovalMode returns how much a session asks before something is done.
func (c sessions) ApprovalMode(ctx context.Context, id lathe.SessionID) (lathe.ApprovalMode, error) {
	if err := plausible(id); err != nil {
		return "", err
	}
	out, err := get(ctx, c.conn, "/lathe"+sessionPath(id)+"/approval-mode", nil, plain[api.ApprovalMode])
	return out.Mode, err
}

// SetApprovalMode chooses it. It holds from the session's next call on.
func (c sessions) SetApprovalMode(ctx context.Context, id lathe.SessionID, mode lathe.ApprovalMode) error {
	if err := plausible(id); err != nil {
		return err
	}
	_, err := post(ctx, c.conn, "/lathe"+sessionPath(id)+"/approval-mode", api.ApprovalMode{Mode: mode}, plain[api.ApprovalMode])
	return err
}
