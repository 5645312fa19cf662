package client

import (
	"context"
	"net/http"
	"net/url"

	"lathe/internal/api"
)

// OwnKeys tells which keys for providers the person has whose token this client shows.
func (c logins) OwnKeys(ctx context.Context) ([]api.PersonKey, error) {
	return get(ctx, c.conn, "/lathe/keys", nil, plain[[]api.PersonKey])
}

// SetOwnKey stores a provider's key of the person whose token this client shows, as it is: see
// [logins.TestKey]. It takes effect with the next turn.
func (c logins) SetOwnKey(ctx context.Context, provider, key string) error {
	_, err := c.call(ctx, http.MethodPut, "/auth/"+url.PathEscape(provider), untried, map[string]string{"type": "api", "key": key})
	return err
}

// RemoveOwnKey forgets what [logins.SetOwnKey] stored.
func (c logins) RemoveOwnKey(ctx context.Context, provider string) error {
	_, err := c.call(ctx, http.MethodDelete, "/auth/"+url.PathEscape(provider), nil, nil)
	return err
}
