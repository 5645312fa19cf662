package client

import (
	"context"
	"net/http"
	"net/url"

	"lathe/internal/api"
)

// Credentials returns the stored credentials and those in the environment with
// which to log in to providers.
func (c directory) Credentials(ctx context.Context) (api.Credentials, error) {
	return get(ctx, c.conn, "/lathe/auth", nil, plain[api.Credentials])
}

// SetKey stores a provider's key, and has the directory's configuration read
// again so that it takes effect.
func (c directory) SetKey(ctx context.Context, provider, key string) error {
	return c.changeLogin(ctx, http.MethodPut, provider, map[string]string{"type": "api", "key": key})
}

// SetToken stores the token of an organisation, by its address, and the name of the
// variable that stands for it.
func (c directory) SetToken(ctx context.Context, address, variable, token string) error {
	return c.changeLogin(ctx, http.MethodPut, address, map[string]string{"type": "wellknown", "key": variable, "token": token})
}

// RemoveKey forgets what is stored for a provider or an organisation.
func (c directory) RemoveKey(ctx context.Context, provider string) error {
	return c.changeLogin(ctx, http.MethodDelete, provider, nil)
}

// changeLogin changes what is stored, and has the directory's configuration read again.
func (c directory) changeLogin(ctx context.Context, method, provider string, body any) error {
	if _, err := c.call(ctx, method, "/auth/"+url.PathEscape(provider), nil, body); err != nil {
		return err
	}
	_, err := c.call(ctx, http.MethodPost, "/instance/dispose", nil, nil)
	return err
}
