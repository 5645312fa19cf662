package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"lathe/internal/api"
)

// TrustState returns what the directory's repository brings, and whether it counts.
func (c trust) TrustState(ctx context.Context) (api.Trust, error) {
	return get(ctx, c.conn, "/lathe/trust", nil, plain[api.Trust])
}

// Trusted returns the directories that are trusted permanently.
func (c trust) Trusted(ctx context.Context) ([]api.Trusted, error) {
	return get(ctx, c.conn, "/lathe/trust/list", nil, plain[[]api.Trusted])
}

// Decide trusts the repository as a [Client.TrustState] showed it.
func (c trust) Decide(ctx context.Context, d api.Decision) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe/trust/decision", nil, d)
	return err
}

// Distrust withdraws the decisions about a repository: the client's directory if of is
// empty, else a directory that may no longer exist.
func (c trust) Distrust(ctx context.Context, of string) (out api.Withdrawn, err error) {
	q := url.Values{}
	if of != "" {
		q.Set("of", of)
	}
	raw, err := c.call(ctx, http.MethodDelete, "/lathe/trust/decision", q, nil)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("read the server's answer: %w", err)
	}
	return out, nil
}
