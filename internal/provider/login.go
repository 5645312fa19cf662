package provider

import (
	"time"

	"lathe/internal/auth"
)

// signIns are providers whose sign-in gives a token that is no key, and why.
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
	case s.Expires.UnixMilli() > 0 && !s.Expires.After(now):
		return "it expired, and lathe does not renew sign-ins; sign in again with the program that made it"
	}
	return ""
}
