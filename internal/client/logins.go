package client

import (
	"context"
	"net/http"
	"net/url"

	"lathe"
	"lathe/internal/api"
)

// Credentials returns the stored credentials and those in the environment with
// which to log in to providers.
func (c logins) Credentials(ctx context.Context) (api.Credentials, error) {
	return get(ctx, c.conn, "/lathe/auth", nil, plain[api.Credentials])
}

// untried has a person's own key stored without a try: who wants one asks for it with [logins.TestKey].
var untried = url.Values{"check": {"false"}}

// SetKey stores a provider's key as it is, and has the directory's configuration read
// again so that it takes effect.
func (c logins) SetKey(ctx context.Context, provider, key string) error {
	return c.changeLogin(ctx, http.MethodPut, provider, untried, map[string]string{"type": "api", "key": key})
}

// SetToken stores the token of an organisation, by its address, and the name of the
// variable that stands for it.
func (c logins) SetToken(ctx context.Context, address, variable, token string) error {
	return c.changeLogin(ctx, http.MethodPut, address, nil, map[string]string{"type": "wellknown", "key": variable, "token": token})
}

// RemoveKey forgets what is stored for a provider or an organisation.
func (c logins) RemoveKey(ctx context.Context, provider string) error {
	return c.changeLogin(ctx, http.MethodDelete, provider, nil, nil)
}

// changeLogin changes what is stored, and has the directory's configuration read again.
func (c logins) changeLogin(ctx context.Context, method, provider string, query url.Values, body any) error {
	if _, err := c.call(ctx, method, "/auth/"+url.PathEscape(provider), query, body); err != nil {
		return err
	}
	_, err := c.call(ctx, http.MethodPost, "/instance/dispose", nil, nil)
	if lathe.CodeOf(err) == lathe.CodePermission {
		return nil // it was the person's own, which is read anew anyway
	}
	return err
}

// TestKey tries a provider's key with one small request. A key that is given is not stored;
// without one, the stored key is tried.
func (c logins) TestKey(ctx context.Context, provider, key string) (api.KeyTest, error) {
	var body any
	if key != "" {
		body = map[string]string{"key": key}
	}
	return post(ctx, c.conn, "/lathe/provider/"+url.PathEscape(provider)+"/test", body, plain[api.KeyTest])
}

// LoginMethods returns the ways to log in that plugins bring, by provider.
func (c logins) LoginMethods(ctx context.Context) (map[string][]api.LoginMethod, error) {
	return get(ctx, c.conn, "/provider/auth", nil, plain[map[string][]api.LoginMethod])
}

// BeginProviderLogin begins a login by one of a provider's methods.
func (c logins) BeginProviderLogin(ctx context.Context, provider string, method int, inputs map[string]string) (api.LoginBegun, error) {
	return post(ctx, c.conn, "/provider/"+url.PathEscape(provider)+"/oauth/authorize", map[string]any{"method": method, "inputs": inputs}, plain[api.LoginBegun])
}

// EndProviderLogin waits until a login is done, with what the person brought back.
func (c logins) EndProviderLogin(ctx context.Context, provider string, method int, code string) error {
	_, err := post(ctx, c.conn, "/provider/"+url.PathEscape(provider)+"/oauth/callback", map[string]any{"method": method, "code": code}, plain[bool])
	return err
}
