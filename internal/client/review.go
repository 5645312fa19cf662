package client

import (
	"context"
	"net/url"

	"lathe"
	"lathe/internal/api"
)

// Review returns what each prompt of a session changed, oldest first.
func (c sessions) Review(ctx context.Context, id lathe.SessionID) ([]api.Reviewed, error) {
	if err := plausible(id); err != nil {
		return nil, err
	}
	return get(ctx, c.conn, "/lathe"+sessionPath(id)+"/review", nil, plain[[]api.Reviewed])
}

// Between returns what a session changed from one prompt on until before another one; empty
// stands for its beginning and for now.
func (c sessions) Between(ctx context.Context, id lathe.SessionID, from, to lathe.MessageID) ([]api.ReviewedFile, error) {
	if err := plausible(id); err != nil {
		return nil, err
	}
	return get(ctx, c.conn, "/lathe"+sessionPath(id)+"/review/between", url.Values{"from": {string(from)}, "to": {string(to)}}, plain[[]api.ReviewedFile])
}

// PreviewRevert says what going back to before a message would change, and what it would keep.
func (c sessions) PreviewRevert(ctx context.Context, id lathe.SessionID, m lathe.MessageID) (api.Reverted, error) {
	if err := plausible(id); err != nil {
		return api.Reverted{}, err
	}
	return post(ctx, c.conn, "/lathe"+sessionPath(id)+"/revert/preview", api.Revert{MessageID: m}, plain[api.Reverted])
}

// TakeBack takes changes of one prompt back and keeps what came after them.
func (c sessions) TakeBack(ctx context.Context, id lathe.SessionID, in api.TakeBack) (api.Reverted, error) {
	if err := plausible(id); err != nil {
		return api.Reverted{}, err
	}
	return post(ctx, c.conn, "/lathe"+sessionPath(id)+"/review/take-back", in, plain[api.Reverted])
}

// Stage puts what a session changed into git's index.
func (c sessions) Stage(ctx context.Context, id lathe.SessionID, in api.Stage) (api.Staged, error) {
	if err := plausible(id); err != nil {
		return api.Staged{}, err
	}
	return post(ctx, c.conn, "/lathe"+sessionPath(id)+"/review/stage", in, plain[api.Staged])
}
