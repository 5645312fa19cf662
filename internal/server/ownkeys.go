package server

import (
	"context"
	"net/http"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/keyring"
	"lathe/internal/provider"
)

// personKeys answers which keys for providers a person has, and changes them. Everybody sees
// the own ones alone.
type personKeys struct{ *call }

func keyRoutes() []route {
	return []route{{http.MethodGet, "/lathe/keys", on(personKeys.list), ""}}
}

// list tells of the caller's own keys: for which providers, and how they end.
func (c personKeys) list() (any, error) {
	who, ring := c.owner()
	if c.s.rights == nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "store a key of that machine there, with: lathe auth login PROVIDER; people are added with: lathe user add, where servers share a PostgreSQL",
			"this server knows no people, so nobody has keys of their own here")
	}
	if who == "" {
		return nil, lathe.Errorf(lathe.CodeInvalid, "send the token of a person; lathe user key list --person NAME works on the database itself",
			"only people with names have keys of their own here")
	}
	if ring == nil {
		return []api.PersonKey{}, nil
	}
	return ring.List(c.ctx(), who)
}

// owner returns the person who calls, and the ring with the keys of people; "" where people have no names.
func (c personKeys) owner() (string, *keyring.Ring) {
	g, _ := c.granted()
	return g.Name, c.s.opts.Keys
}

// setAuth stores a credential: that of the person who calls, or, where people have no names and with
// the server's own password, that of the server.
func (c *call) setAuth(id string, e auth.Entry) error {
	ctx := context.WithoutCancel(c.ctx())
	if who, ring := (personKeys{c}).owner(); who != "" && ring != nil {
		err := ring.Ready()
		if err == nil {
			err = c.tryOwn(id, e)
		}
		if err != nil {
			return err
		}
		return ring.Set(ctx, who, id, e)
	}
	return c.s.opts.Auth.Set(ctx, id, e)
}

// tryOwn fails for a person's key that its provider refuses, unless it was not to be checked. One
// that cannot be tried passes.
func (c *call) tryOwn(id string, e auth.Entry) error {
	in, ok := e.(auth.API)
	if !ok || c.query("check") == "false" {
		return nil
	}
	t, err := faces{c}.tryKey(id, in.Key.Reveal())
	switch {
	case c.ctx().Err() != nil:
		return context.Cause(c.ctx())
	case err == nil && t.Outcome == api.KeyRefused:
		return provider.KeyRefused(id, t)
	}
	return nil
}

// removeAuth forgets what setAuth stored.
func (c *call) removeAuth(id string) error {
	ctx := context.WithoutCancel(c.ctx())
	var err error
	if who, ring := (personKeys{c}).owner(); who != "" && ring != nil {
		_, err = ring.Remove(ctx, who, id)
	} else {
		_, err = c.s.opts.Auth.Remove(ctx, id)
	}
	return err
}
