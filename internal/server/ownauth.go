package server

import (
	"net/http"

	"lathe/internal/catalog"
	"lathe/internal/provider"
)

// logins answers which ways to log in to providers there are. They are stored and removed
// with OpenCode's routes.
type logins struct{ *call }

func authRoutes() []route {
	return []route{{http.MethodGet, "/lathe/auth", on(logins.list), ""}}
}

// list describes the person's credentials, regardless of the directory.
func (c logins) list() (any, error) {
	if err := c.needAnywhere(); err != nil {
		return nil, err
	}
	o := c.s.opts
	known := o.Catalog
	if known == nil {
		known = catalog.Embedded()
	}
	return provider.Credentials(o.Auth, known, o.Getenv, o.Now())
}
