package server

import (
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/people"
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
	sights *sights // nil: no issuer names people

	mu    sync.Mutex
	known map[string]bearing // by hash
}

// bearing is what was last found out about a token.
type bearing struct {
	grant store.Grant
	at    time.Time
}

const (
	// grantFresh is how long a revoked token may still be taken for a valid one.
	grantFresh = 5 * time.Second
	// grantStale is how long valid ones are while the database cannot be reached.
	grantStale = 10 * time.Minute
	mostGrants = 10_000
)

// grant returns what a token lets its bearer do.
func (a *rights) grant(ctx context.Context, hash []byte) (store.Grant, error) {
	name, now := hex.EncodeToString(hash), a.s.opts.Now()
	a.mu.Lock()
	k, ok := a.known[name]
	a.mu.Unlock()
	if ok && now.Sub(k.at) < grantFresh && !a.sights.over(hash) {
		return k.grant, nil
	}
	g, err := a.ask(ctx, hash)
	if errors.Is(err, store.ErrAway) && ok && now.Sub(k.at) < grantStale {
		return k.grant, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		delete(a.known, name)
		return g, err
	}
	if a.known == nil || len(a.known) >= mostGrants {
		a.known = map[string]bearing{}
	}
	a.known[name] = bearing{g, now}
	return g, nil
}

// ask finds out what a token lets its bearer do.
func (a *rights) ask(ctx context.Context, hash []byte) (store.Grant, error) {
	if in, ok := a.sights.of(hash); ok {
		return a.sights.grant(ctx, in)
	}
	return a.s.opts.Store.People.Grant(ctx, hash)
}

// valid is what the gate asks.
func (a *rights) valid(ctx context.Context, hash []byte) bool {
	_, err := a.grant(ctx, hash)
	return err == nil
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
func (a *rights) admit(r *http.Request) (*http.Request, error) {
	if pageRequest(r) {
		return r, nil
	}
	g := store.Grant{Person: store.Person{Role: people.Owner}} // with the server's own password
	if hash, ok := a.s.gate.Token(r); ok {
		var err error
		if g, err = a.grant(r.Context(), hash); err != nil {
			return r, lathe.Errorf(lathe.CodeAuth, "ask an owner for another one", "the token is not valid any more")
		}
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
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if path[0] == "lathe" || path[0] == "api" {
		path = path[1:]
	}
	if len(path) > 1 && path[0] == "session" && lathe.CheckID(path[1], lathe.PrefixSession) == nil {
		return lathe.SessionID(path[1])
	}
	if len(path) > 1 {
		if id := a.s.sessionOfThing(r, path[0], path[1]); id != "" {
			return id
		}
	}
	if a.s.opts.Elsewhere != nil {
		return a.s.opts.Elsewhere.Changes(r)
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
