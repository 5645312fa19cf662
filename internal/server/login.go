package server

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/server/gate"
	"lathe/internal/store"
)

// loginsOf returns what keeps the logins of pages: the database that servers share, else a file.
func loginsOf(o Options) gate.Logins {
	if o.Store != nil && o.Store.Logins != nil {
		return o.Store.Logins
	}
	l := &gate.LocalLogins{Now: o.Now, Log: o.Log}
	if o.Paths.Data != "" {
		l.Path = filepath.Join(o.Paths.Data, "page-logins.json")
	}
	return l
}

// pageLoginLife is how long a page stays logged in that came in with a password or a token.
const pageLoginLife = 30 * 24 * time.Hour

// enterWith lets the page in with a token that counts, whose hash it is, or, without one, with
// the server's own password.
func (c page) enterWith(token []byte) error {
	l := store.Login{Token: token}
	if token != nil && c.s.rights != nil {
		g, err := c.s.rights.grant(c.ctx(), token)
		if err != nil {
			return err
		}
		l.Person = g.Name
	}
	return c.enter(l, pageLoginLife, false)
}

// enter records a login of the page, then lets it in.
func (c *call) enter(l store.Login, life time.Duration, tls bool) error {
	l.ID = "login_" + strings.ToLower(rand.Text()[:12])
	if err := c.recordLogin(c.r.Method+" "+c.r.URL.Path, l); err != nil {
		return err
	}
	return c.s.gate.Enter(c.w, c.r, l, life, tls)
}

// recordLogin notes in the audit, where there is one, that a login begins or ends.
func (c *call) recordLogin(what string, l store.Login) error {
	if c.s.rights == nil || c.s.opts.Store.Audit == nil {
		return nil
	}
	return c.s.opts.Store.Audit.Record(context.WithoutCancel(c.ctx()), store.Change{Person: l.Person, From: c.r.RemoteAddr, What: what, About: l.ID})
}
