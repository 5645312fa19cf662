package client

import (
	"context"
	"net/http"
	"net/url"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
)

// Asks returns the permission asks that wait for a reply.
func (c asks) Asks(ctx context.Context) ([]lathe.Ask, error) {
	return get(ctx, c.conn, "/permission", nil, wire.DecodeAsks)
}

// Questions returns the questions that wait for an answer.
func (c asks) Questions(ctx context.Context) ([]lathe.QuestionAsk, error) {
	return get(ctx, c.conn, "/question", nil, wire.DecodeQuestionAsks)
}

// Reply answers a permission ask.
func (c asks) Reply(ctx context.Context, id lathe.AskID, r lathe.Reply) error {
	body := map[string]any{"reply": r.Kind}
	if r.Message != "" {
		body["message"] = r.Message
	}
	if r.Alone {
		body["alone"] = true
	}
	if r.Project {
		body["project"] = true
	}
	if len(r.Patterns) > 0 {
		body["patterns"] = r.Patterns
	}
	_, err := c.call(ctx, http.MethodPost, "/permission/"+url.PathEscape(string(id))+"/reply", nil, body)
	return err
}

// Answer answers a question; nil dismisses it.
func (c asks) Answer(ctx context.Context, id lathe.AskID, answers [][]string) error {
	path := "/question/" + url.PathEscape(string(id))
	if answers == nil {
		_, err := c.call(ctx, http.MethodPost, path+"/reject", nil, nil)
		return err
	}
	_, err := c.call(ctx, http.MethodPost, path+"/reply", nil, map[string]any{"answers": answers})
	return err
}

// Approvals returns what was allowed from then on in the directory's project.
func (c asks) Approvals(ctx context.Context) ([]api.Approval, error) {
	return get(ctx, c.conn, "/lathe/approval", nil, plain[[]api.Approval])
}

// Revoke withdraws an approval.
func (c asks) Revoke(ctx context.Context, a api.Approval) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe/approval/revoke", nil, a)
	return err
}
