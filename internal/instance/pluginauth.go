package instance

import (
	"context"
	"net/http"
	"time"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/plugin/host"
	"lathe/internal/provider"
)

// loadTime is how long a plugin may take to prepare requests to a provider.
const loadTime = time.Minute

// loaders returns how plugins make requests to the providers that they log in to.
func (p *Plugins) loaders() map[string]provider.Loader {
	if p == nil {
		return nil
	}
	out := map[string]provider.Loader{}
	for id, login := range p.Logins().All() {
		if !login.Loader {
			continue
		}
		out[id] = func() (provider.Loaded, error) {
			ctx, cancel := context.WithTimeout(context.Background(), loadTime)
			defer cancel()
			l, err := p.Logins().Load(ctx, id, map[string]any{"id": id, "name": id, "source": "custom", "env": []string{}, "options": map[string]any{}, "models": map[string]any{}})
			if err != nil {
				return provider.Loaded{}, err
			}
			out := provider.Loaded{Key: l.APIKey, BaseURL: l.BaseURL, Header: l.Headers}
			if l.Fetches {
				out.Client = &http.Client{Transport: p.Logins().Transport(id)}
			}
			return out, nil
		}
	}
	return out
}

// KeepLogin stores what a login of a plugin left.
func KeepLogin(ctx context.Context, store *auth.Store, id string, c host.Credential) error {
	if c.Provider != "" {
		id = c.Provider
	}
	switch {
	case c.Type != "success":
		return lathe.Errorf(lathe.CodeAuth, "try again, or another method", "the login to %s failed", id)
	case c.Key != "":
		return store.Set(ctx, id, auth.API{Key: auth.NewSecret(c.Key), Metadata: c.Metadata})
	case c.Refresh == "" && c.Access == "":
		return lathe.Errorf(lathe.CodeAuth, "tell its author", "the plugin's login to %s left neither a key nor a token", id)
	}
	return store.Set(ctx, id, auth.OAuth{
		Refresh: auth.NewSecret(c.Refresh), Access: auth.NewSecret(c.Access), Expires: time.UnixMilli(int64(c.Expires)),
		AccountID: c.AccountID, EnterpriseURL: c.EnterpriseURL,
	})
}

// credential is a stored login as OpenCode stores it, for the plugin that made it; nil
// for none.
func credential(store *auth.Store, provider string) any {
	if store == nil {
		return nil
	}
	e, err := store.Get(provider)
	if err != nil {
		return nil
	}
	switch e := e.(type) {
	case auth.API:
		return map[string]any{"type": "api", "key": e.Key.Reveal(), "metadata": e.Metadata}
	case auth.OAuth:
		return map[string]any{
			"type": "oauth", "refresh": e.Refresh.Reveal(), "access": e.Access.Reveal(), "expires": e.Expires.UnixMilli(),
			"accountId": e.AccountID, "enterpriseUrl": e.EnterpriseURL,
		}
	}
	return nil
}
