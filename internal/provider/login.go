package provider

import (
	"cmp"
	"time"

	"lathe/internal/auth"
)

// signIns are providers whose sign-in yields a token that is not a key, and why.
var signIns = map[string]string{
	"openai":    "it signs in to ChatGPT, whose tokens are not for other programs; a key of the API works",
	"anthropic": "it signs in to a Claude subscription, whose tokens are not for other programs; a key of the API works",
}

// LoginProblem returns why a sign-in that another program stored cannot be used as
// a provider's key, or "" if it can.
func LoginProblem(provider string, s auth.OAuth, now time.Time) string {
	switch {
	case signIns[provider] != "":
		return signIns[provider]
	case s.Access.IsZero() && s.Refresh.IsZero():
		return "it holds no token"
	case provider == "github-copilot" && !s.Refresh.IsZero(): // that is the key; it does not expire
	case s.Expires.UnixMilli() > 0 && !s.Expires.After(now):
		return "it expired, and lathe does not renew sign-ins; sign in again with the program that made it"
	}
	return ""
}

// Login is a stored login that lathe cannot use, and why.
type Login struct{ Provider, Name, Why string }

// UnusableLogins lists the logins that lathe found but cannot use, for
// providers that have no key besides.
func (r *Registry) UnusableLogins() (out []Login) {
	for _, id := range r.order {
		if e := r.entries[id]; e.login != "" && e.key.IsZero() {
			out = append(out, Login{id, cmp.Or(e.info.Name, id), e.login})
		}
	}
	return out
}
