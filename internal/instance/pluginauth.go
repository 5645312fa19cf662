package instance

import (
	"lathe/internal/auth"
)

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
