package server

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/oidc"
	"lathe/internal/people"
	"lathe/internal/store"
)

// OIDC says how an issuer names people.
type OIDC struct {
	Issuer *oidc.Issuer
	// URL is the server's address in a browser; empty: that of the request, over HTTP.
	URL string
	// Create is the role of people who come for the first time; empty: they have to be added first.
	Create string
}

// sights are the tokens of the issuer that were found good. A nil one has none.
type sights struct {
	o OIDC
	s *Server

	mu sync.Mutex
	by map[string]sight // by the hash of the token
}

// sight is whom a token names, and until when that is believed.
type sight struct {
	name, role string
	until      time.Time
}

// loginLife is how long a page stays logged in that came in through the issuer.
const loginLife = 12 * time.Hour

// issued is what the gate asks about tokens that lathe has not made.
func (a *sights) issued(ctx context.Context, token string) (hash []byte, err error) {
	if !oidc.IsToken(token) {
		return nil, store.ErrNotFound
	}
	hash = people.Hash(token)
	if _, seen := a.of(hash); !seen {
		p, err := a.o.Issuer.Verify(ctx, token)
		if err == nil {
			err = a.known(ctx, p)
		}
		if err != nil {
			a.s.opts.Log.Warn("a token of the issuer is not taken", "err", err)
			return nil, err
		}
		a.note(hash, sight{p.Name, p.Role, p.Expires})
	}
	_, err = a.s.rights.grant(ctx, hash)
	return hash, err
}

// mostSights is how many tokens are remembered.
const mostSights = 10_000

// note believes from now on that a token names a person.
func (a *sights) note(hash []byte, in sight) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.by) >= mostSights {
		a.by = map[string]sight{}
	}
	a.by[hex.EncodeToString(hash)] = in
}

// known makes sure that a person is in the store, who is added if that is configured.
func (a *sights) known(ctx context.Context, p oidc.Person) error {
	st := a.s.opts.Store
	_, err := st.People.Person(ctx, p.Name)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if a.o.Create == "" {
		return lathe.Errorf(lathe.CodeAuth, "ask an owner for: lathe user add "+p.Name, "the issuer knows %s, but nobody was added here by this name", p.Name)
	}
	role := cmp.Or(p.Role, a.o.Create)
	err = st.Audit.Record(ctx, store.Change{Person: p.Name, Token: "oidc", What: "person added", About: p.Name + ": " + role})
	if err == nil {
		err = st.People.PutPerson(ctx, store.Person{Name: p.Name, Role: role})
	}
	return err
}

// of returns what is believed of a token of the issuer, whether or not that is over.
func (a *sights) of(hash []byte) (in sight, ok bool) {
	if a == nil {
		return in, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	in, ok = a.by[hex.EncodeToString(hash)]
	return in, ok
}

// over reports whether a token is one of the issuer that is over.
func (a *sights) over(hash []byte) bool {
	in, ok := a.of(hash)
	return ok && !a.s.opts.Now().Before(in.until)
}

// grant returns what a token of the issuer lets its bearer do: the role that it gives, else
// that of the person, in the projects of the person.
func (a *sights) grant(ctx context.Context, in sight) (store.Grant, error) {
	if !a.s.opts.Now().Before(in.until) {
		return store.Grant{}, store.ErrNotFound
	}
	p, err := a.s.opts.Store.People.Person(ctx, in.name)
	p.Role = cmp.Or(in.role, p.Role)
	return store.Grant{Person: p, Token: "oidc"}, err
}

// oidcLogin is the way of a page through the issuer's login.
type oidcLogin struct{ *call }

const (
	loginOIDC  = "/lathe/login/oidc"
	oidcCookie = "lathe_oidc"
	// loginTime is how long somebody may take to log in at the issuer.
	loginTime = 10 * time.Minute
)

// isCallback reports whether the issuer sends a browser back with this request.
func isCallback(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == loginOIDC+"/callback"
}

var errNoOIDC = lathe.Errorf(lathe.CodeNotFound, "", "no issuer is configured here")

// begin sends the browser to the issuer. What belongs to this login stays with the browser,
// in a cookie that no script reads, so any server can end it.
func (c oidcLogin) begin() (any, error) {
	o := c.s.opts.OIDC
	if o == nil || c.s.rights == nil {
		return nil, errNoOIDC
	}
	address, login, err := o.Issuer.Begin(c.ctx(), c.redirect())
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(login)
	if err != nil {
		return nil, err
	}
	c.keep(base64.RawURLEncoding.EncodeToString(raw), loginTime)
	c.w.Header().Set("Cache-Control", "no-store")
	http.Redirect(c.w, c.r, address, http.StatusFound)
	return done{}, nil
}

// redirect is where the issuer sends the browser back to.
func (c oidcLogin) redirect() string {
	return strings.TrimSuffix(cmp.Or(c.s.opts.OIDC.URL, "http://"+c.r.Host), "/") + loginOIDC + "/callback"
}

func (c oidcLogin) tls() bool { return strings.HasPrefix(c.s.opts.OIDC.URL, "https://") }

// prefix is what a proxy adds in front of the server's paths, which the server's address in a
// browser tells; "" if none.
func (c oidcLogin) prefix() string {
	at, err := url.Parse(c.s.opts.OIDC.URL)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(at.EscapedPath(), "/")
}

// keep has the browser keep what belongs to a login. The cookie comes along when the issuer
// sends the browser back, which a strict one would not.
func (c oidcLogin) keep(value string, life time.Duration) {
	http.SetCookie(c.w, &http.Cookie{
		Name: oidcCookie, Value: value, Path: c.prefix() + loginOIDC, MaxAge: int(life / time.Second), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.tls(),
	})
}

// backHome leads to the page, whose address it has twice. A redirect would count as one of the
// issuer's site.
const backHome = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=%[1]s"><title>lathe</title><a href="%[1]s">lathe</a>
`

// end takes what the issuer sent the browser back with, and logs the page in.
func (c oidcLogin) end() (any, error) {
	o := c.s.opts.OIDC
	if o == nil || c.s.rights == nil {
		return nil, errNoOIDC
	}
	var login oidc.Login
	if kept, err := c.r.Cookie(oidcCookie); err == nil {
		raw, err := base64.RawURLEncoding.DecodeString(kept.Value)
		if err != nil || json.Unmarshal(raw, &login) != nil {
			login = oidc.Login{}
		}
	}
	c.keep("", -time.Second)
	p, err := c.finish(login)
	if err == nil {
		err = c.s.rights.sights.known(c.ctx(), p)
	}
	if err == nil {
		err = c.enter(store.Login{Person: p.Name, Role: p.Role}, loginLife, c.tls())
	}
	if err != nil {
		c.s.opts.Log.Warn("a login through the issuer failed", "err", err)
		c.s.failed.note(c.r, p.Name, "login through the issuer")
		return nil, lathe.Errorf(lathe.CodeAuth, "try again at "+loginOIDC+", or ask an owner", "the login through the issuer failed: %v", err)
	}
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	_, _ = fmt.Fprintf(c.w, backHome, html.EscapeString(c.prefix()+"/")) // an error: the browser has left
	return done{}, nil
}

// finish returns whom the issuer names at the end of a login.
func (c oidcLogin) finish(login oidc.Login) (oidc.Person, error) {
	q := c.r.URL.Query()
	if why := q.Get("error"); why != "" {
		return oidc.Person{}, errors.New("the issuer says " + clip(why, 60))
	}
	p, _, err := c.s.opts.OIDC.Issuer.Finish(c.ctx(), c.redirect(), login, q.Get("state"), q.Get("code"))
	return p, err
}
