package server

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/people"
	"lathe/internal/server/gate"
	"lathe/internal/store"
	"lathe/internal/workspace"
)

//go:embed roles.txt
var rolesText string

// need is what a route needs of who calls it.
type need struct {
	role       string
	everywhere bool // it tells of every directory, as all that need an owner may
	copies     bool // it leaves the session that it is about as it is
}

// needs are those of all routes, by method and path; see roles.txt.
var needs = sync.OnceValue(func() map[string]need {
	out := map[string]need{}
	for line := range strings.Lines(rolesText) {
		if f := strings.Fields(line); len(f) >= 3 && f[0] != "#" {
			out[f[1]+" "+f[2]] = need{role: f[0], everywhere: slices.Contains(f[3:], "everywhere"), copies: slices.Contains(f[3:], "copies")}
		}
	}
	return out
})

// rights decides, in this one place, who may call which route about which session, and
// records who changes something.
type rights struct {
	s      *Server
	sights *sights                   // nil: no issuer names people
	known  gate.Beliefs[store.Grant] // by the hash of a token, or by the ID of a login
}

// grant returns what a token lets its bearer do.
func (a *rights) grant(ctx context.Context, hash []byte) (store.Grant, error) {
	if a.sights.over(hash) {
		a.known.Forget(hash)
	}
	return a.known.Of(hash, func() (store.Grant, error) { return a.ask(ctx, hash) })
}

// ask finds out what a token lets its bearer do.
func (a *rights) ask(ctx context.Context, hash []byte) (store.Grant, error) {
	if in, ok := a.sights.of(hash); ok {
		return a.sights.grant(ctx, in)
	}
	return a.s.opts.Store.People.Grant(ctx, hash)
}

// person returns what a page may do that came in through an issuer: what the issuer said of
// the person then, else what the person may. One who was removed, and somebody else who was added by the same name,
// have no part in it.
func (a *rights) person(ctx context.Context, l store.Login) (store.Grant, error) {
	return a.known.Of([]byte(l.ID), func() (store.Grant, error) {
		p, err := a.s.opts.Store.People.Person(ctx, l.Person)
		if err == nil && p.Created.After(l.Created) {
			err = store.ErrNotFound
		}
		p.Role = cmp.Or(l.Role, p.Role)
		return store.Grant{Person: p, Token: "oidc"}, err
	})
}

// admission adds what the gate asks about tokens and people.
func (a *rights) admission(o *gate.Options) {
	o.Known = func(ctx context.Context, hash []byte) error {
		_, err := a.grant(ctx, hash)
		return err
	}
	o.Person = func(ctx context.Context, l store.Login) error {
		_, err := a.person(ctx, l)
		return err
	}
}

// of returns what somebody may do whom the gate let in.
func (a *rights) of(ctx context.Context, who gate.Caller) (store.Grant, error) {
	switch {
	case who.Own:
		return store.Grant{Person: store.Person{Role: people.Owner}}, nil
	case who.Token != nil:
		return a.grant(ctx, who.Token)
	case who.Login != nil:
		return a.person(ctx, *who.Login)
	}
	return store.Grant{}, store.ErrNotFound
}

type grantKey struct{}

// granted returns what the caller may do; ok is false where people have no names.
func (c *call) granted() (g store.Grant, ok bool) {
	g, ok = c.r.Context().Value(grantKey{}).(store.Grant)
	return g, ok
}

// restricted reports whether the caller may use some directories only.
func (c *call) restricted() bool {
	g, _ := c.granted()
	return len(g.Projects) > 0
}

// admit returns the request with whom it comes from, or an error if that person may not
// make it. What changes something is recorded first: what cannot be recorded is not done.
func (a *rights) admit(r *http.Request, who gate.Caller) (*http.Request, error) {
	if pageRequest(r) {
		return r, nil
	}
	g, err := a.of(r.Context(), who)
	if errors.Is(err, store.ErrNotFound) {
		return r, lathe.Errorf(lathe.CodeAuth, "ask an owner for another one", "the token is not valid any more")
	}
	if err != nil {
		return r, err
	}
	r = r.WithContext(people.With(context.WithValue(r.Context(), grantKey{}, g), g.Name))
	route := a.s.mux.pattern(r)
	n, listed := needs()[route]
	if !listed {
		n.role = people.Owner
	}
	session, err := a.check(r, g, n)
	if n.role == people.Reader {
		return r, err
	}
	var no *lathe.Error
	if err != nil && (!errors.As(err, &no) || no.Code != lathe.CodePermission) {
		return r, err
	}
	told := a.s.opts.Store.Audit.Record(context.WithoutCancel(r.Context()), store.Change{
		Person: g.Name, Token: g.Token, From: r.RemoteAddr, What: route, About: clip(r.URL.Path, 500), Session: session, Refused: err != nil,
	})
	if err == nil {
		err = told
	}
	return r, err
}

// check returns the session that a request is about, and what speaks against the request.
func (a *rights) check(r *http.Request, g store.Grant, n need) (session lathe.SessionID, err error) {
	session = a.session(r)
	if !people.AtLeast(g.Role, n.role) {
		return session, lathe.Errorf(lathe.CodePermission, "ask an owner", "this needs the role %s, and %s has %s", n.role, named(g), g.Role)
	}
	if (n.everywhere || n.role == people.Owner) && len(g.Projects) > 0 {
		return session, lathe.Errorf(lathe.CodePermission, "name a directory", "%s may use some projects, and this is about all", named(g))
	}
	if session == "" || g.Role == people.Owner && len(g.Projects) == 0 {
		return session, nil
	}
	return session, mayHave(r.Context(), a.s.opts.Store, g, session, n.role != people.Reader && !n.copies)
}

func named(g store.Grant) string {
	if g.Name == "" {
		return "who has the password"
	}
	return g.Name
}

// mayWorkIn says what is wrong with a directory for a person.
func mayWorkIn(g store.Grant, dir string) error {
	real := dir
	if to, err := workspace.Resolve(dir); err == nil { // it may not be on this machine
		real = to
	}
	if people.MayUse(g.Projects, real) {
		return nil
	}
	return lathe.Errorf(lathe.CodePermission, "ask an owner", "%s may not work in %q", named(g), dir)
}

// session returns the session that a request reads or changes, or "".
func (a *rights) session(r *http.Request) lathe.SessionID {
	if id := sessionInPath(r); id != "" {
		return id
	}
	if path := thing(r); len(path) > 1 {
		if id := a.s.sessionOfThing(r, path[0], path[1]); id != "" {
			return id
		}
	}
	if a.s.opts.Elsewhere != nil {
		return a.s.opts.Elsewhere.Changes(r)
	}
	return ""
}

// thing returns the segments of the path of a request, which say what it is about.
func thing(r *http.Request) []string {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if path[0] == "lathe" || path[0] == "api" {
		path = path[1:]
	}
	return path
}

// sessionInPath returns the session that the path of a request names, or "".
func sessionInPath(r *http.Request) lathe.SessionID {
	if path := thing(r); len(path) > 1 && path[0] == "session" && lathe.CheckID(path[1], lathe.PrefixSession) == nil {
		return lathe.SessionID(path[1])
	}
	return ""
}

// claim gives a session to the person who made it.
func (c *call) claim(id lathe.SessionID, err error) error {
	who := people.From(c.ctx())
	if err != nil || who == "" || c.s.opts.Store.Belongings == nil {
		return err
	}
	return c.s.opts.Store.Belongings.Claim(context.WithoutCancel(c.ctx()), id, who)
}

// pattern returns the route of a request; it is that of the fallback if there is none.
func (m *routeMux) pattern(r *http.Request) string {
	_, pattern := m.group(groupOf(r.URL.Path)).Handler(r)
	return pattern
}
