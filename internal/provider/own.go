package provider

import (
	"time"

	"lathe/internal/auth"
)

// owned uses the key of the person for whom the registry is. It takes the place of whatever
// the machine has, so that nobody pays for somebody else, also where it cannot be used.
func (e *entry) owned(own auth.Entry, problem error, now time.Time) {
	if own == nil && problem == nil {
		return
	}
	e.source, e.env, e.loader, e.login, e.public, e.broken = "custom", "", nil, "", false, problem
	e.key = auth.Secret{}
	switch s := own.(type) {
	case auth.API:
		e.source, e.key = "api", s.Key
	case auth.OAuth:
		e.oauth(s, now)
	}
}
