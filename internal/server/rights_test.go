package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/people"
	"lathe/internal/session"
	"lathe/internal/store"
)

// Every route says what it needs of its caller, and nothing else is listed.
func TestEveryRouteNeedsARole(t *testing.T) {
	r := newRig(t)
	listed := needs()
	there := map[string]bool{}
	for _, route := range r.srv.allRoutes() {
		name := route.method + " " + route.path
		there[name] = true
		n, ok := listed[name]
		switch {
		case !ok:
			t.Errorf("roles.txt has no line for %s", name)
		case n.role == "public":
			if !pageRequest(&http.Request{Method: route.method, URL: &url.URL{Path: strings.NewReplacer("{$}", "", "{file}", "x.js").Replace(route.path)}}) {
				t.Errorf("%s is public, but is asked for a password", name)
			}
		case !people.IsRole(n.role):
			t.Errorf("%s needs %q, which is no role", name, n.role)
		case n.role == people.Reader && route.method != http.MethodGet && name != "POST /log" && !strings.HasSuffix(name, "/attend"):
			t.Errorf("%s changes something, and a reader may call it", name)
		}
	}
	for name := range listed {
		if !there[name] {
			t.Errorf("roles.txt lists %s, which is no route", name)
		}
	}
}

// nobody is no people.
type nobody struct{}

func (nobody) PutPerson(context.Context, store.Person) error  { return nil }
func (nobody) RemovePerson(context.Context, string) error     { return nil }
func (nobody) People(context.Context) ([]store.Person, error) { return nil, nil }
func (nobody) Person(context.Context, string) (store.Person, error) {
	return store.Person{}, store.ErrNotFound
}
func (nobody) AddToken(context.Context, store.Token, []byte) error   { return nil }
func (nobody) Tokens(context.Context, string) ([]store.Token, error) { return nil, nil }
func (nobody) RevokeToken(context.Context, string) error             { return nil }

// tokenOf is the token of a person of a crowd.
func tokenOf(name string) string { return "lathe_" + strings.Repeat("a", 52-len(name)) + name }

// crowd is the people of a store, in memory.
type crowd struct {
	nobody
	mu     sync.Mutex
	all    map[string]store.Person
	gone   map[string]bool
	claims map[lathe.SessionID]string
	told   []store.Change
	logins map[string]store.Login // of pages, by the hash of the cookie
}

func (c *crowd) Grant(_ context.Context, hash []byte) (store.Grant, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.all {
		if bytes.Equal(hash, people.Hash(tokenOf(name))) && !c.gone[name] {
			return store.Grant{Person: p, Token: "tok_" + name}, nil
		}
	}
	return store.Grant{}, store.ErrNotFound
}

func (c *crowd) Person(_ context.Context, name string) (store.Person, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.all[name]; ok && !c.gone[name] {
		return p, nil
	}
	return store.Person{}, store.ErrNotFound
}

func (c *crowd) PutPerson(_ context.Context, p store.Person) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[p.Name] = p
	return nil
}

func (c *crowd) Claim(_ context.Context, id lathe.SessionID, person string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claims[id] = person
	return nil
}

func (c *crowd) Claimant(_ context.Context, id lathe.SessionID) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.claims[id], nil
}

func (c *crowd) Record(_ context.Context, change store.Change) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, change)
	return nil
}

func (c *crowd) AddLogin(_ context.Context, l store.Login, hash []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logins[string(hash)] = l
	return nil
}

func (c *crowd) Login(_ context.Context, hash []byte) (store.Login, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l, ok := c.logins[string(hash)]; ok {
		return l, nil
	}
	return store.Login{}, store.ErrNotFound
}

func (c *crowd) Logins(context.Context, string) ([]store.Login, error) { return nil, nil }

func (c *crowd) EndLogin(_ context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.logins, func(_ string, l store.Login) bool { return l.ID == id })
	return nil
}

func (c *crowd) Changes(context.Context, store.ChangeFilter) ([]store.Change, error) { return nil, nil }

func namedRig(t *testing.T, change ...func(*Options)) (*rig, *crowd) {
	t.Helper()
	c := &crowd{all: map[string]store.Person{}, gone: map[string]bool{}, claims: map[lathe.SessionID]string{}, logins: map[string]store.Login{}}
	r := newRig(t, func(o *Options) {
		s := *o.Store
		s.People, s.Belongings, s.Audit, s.Logins = c, c, c, c
		o.Store, o.Named, o.Password = &s, true, "sesame"
		for _, f := range change {
			f(o)
		}
	})
	for _, role := range []string{people.Reader, people.Author, people.Owner} {
		c.all[role] = store.Person{Name: role, Role: role}
	}
	c.all["other"] = store.Person{Name: "other", Role: people.Author}
	c.all["elsewhere"] = store.Person{Name: "elsewhere", Role: people.Owner, Projects: []string{"/nowhere"}}
	c.all["near"] = store.Person{Name: "near", Role: people.Author, Projects: []string{r.dir}}
	return r, c
}

// as makes a request as a person; "" is with no token at all.
func (r *rig) as(who, method, path, body string) (status int, answer string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if who != "" {
		req.Header.Set("Authorization", "Bearer "+tokenOf(who))
	}
	res, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(out)
}

// Nobody gets past a route that needs a higher role, whichever it is; nobody without a token
// gets past any.
func TestRolesAreHeldOnEveryRoute(t *testing.T) {
	r, c := namedRig(t)
	sess, err := r.svc.Create(t.Context(), session.Create{Directory: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	path := strings.NewReplacer("{sessionID}", string(sess.ID), "{messageID}", "msg_1", "{partID}", "prt_1", "{requestID}", "per_1", "{permissionID}", "per_1",
		"{name}", "x", "{providerID}", "x", "{projectID}", "x", "{ptyID}", "pty_1", "{jobID}", "job_1", "{file}", "x")
	for _, route := range r.srv.allRoutes() {
		name := route.method + " " + route.path
		n := needs()[name]
		if n.role == "public" {
			continue
		}
		if status, _ := r.as("", route.method, path.Replace(route.path), ""); status != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", name, status)
		}
		for _, role := range []string{people.Reader, people.Author} {
			if people.AtLeast(role, n.role) {
				continue
			}
			before := len(c.told)
			status, body := r.as(role, route.method, path.Replace(route.path), "")
			if status != http.StatusForbidden || !strings.Contains(body, "this needs the role "+n.role) {
				t.Errorf("%s as %s: %d %s", name, role, status, body)
			}
			if len(c.told) != before+1 || !c.told[before].Refused || c.told[before].Person != role || c.told[before].What != name {
				t.Errorf("%s as %s is recorded as %+v", name, role, c.told[before:])
			}
		}
	}
}

// A session belongs to who made it; others read it and fork it. People who may use some
// projects use no others.
func TestWhoseSessionItIs(t *testing.T) {
	r, c := namedRig(t)
	at := "?directory=" + url.QueryEscape(r.dir)
	status, body := r.as("author", "POST", "/session"+at, "{}")
	if status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	var mine lathe.SessionID
	for id, who := range c.claims {
		if who != "author" {
			t.Errorf("%s belongs to %s", id, who)
		}
		mine = id
	}
	one := "/session/" + string(mine)
	for _, tt := range []struct {
		who, method, path, body string
		want                    int
	}{
		{"author", "PATCH", one, `{"title":"mine"}`, 200},
		{"reader", "GET", one, "", 200},
		{"reader", "GET", "/session" + at, "", 200},
		{"other", "GET", one + "/message", "", 200},
		{"other", "PATCH", one, `{"title":"yours"}`, 403},
		{"other", "POST", one + "/prompt_async", `{"parts":[{"type":"text","text":"x"}]}`, 403},
		{"other", "POST", one + "/abort", "", 403},
		{"other", "POST", one + "/fork", "{}", 200},
		{"owner", "PATCH", one, `{"title":"ours"}`, 200},
		{"near", "GET", one, "", 200},
		{"near", "GET", "/path" + at, "", 200},
		{"near", "GET", "/path?directory=%2F", "", 403},
		{"near", "GET", "/global/event", "", 403},
		{"near", "GET", "/project", "", 403},
		{"elsewhere", "GET", one, "", 403},
		{"elsewhere", "DELETE", one, "", 403},
		{"elsewhere", "GET", "/session" + at, "", 403},
		{"elsewhere", "GET", "/path", "", 403},
		{"elsewhere", "POST", "/global/dispose", "", 403},
		{"elsewhere", "GET", "/pty?directory=%2Fnowhere", "", 403},
		{"elsewhere", "GET", "/file/content?path=a", "", 403},
	} {
		if status, body := r.as(tt.who, tt.method, tt.path, tt.body); status != tt.want {
			t.Errorf("%s: %s %s: %d %s", tt.who, tt.method, tt.path, status, body)
		}
	}
	if len(c.claims) != 2 {
		t.Errorf("the sessions belong to %v", c.claims)
	}
}

// A token may stand in the place of the password, as OpenCode's clients and the page send
// it; it is asked about again, so that it can be revoked. The password is an owner's.
func TestTokensInEveryPlace(t *testing.T) {
	r, c := namedRig(t)
	basic := func(user, password string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", r.url+"/path", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth(user, password)
		res, err := r.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	got := map[string]int{
		"token": basic("opencode", tokenOf("reader")), "any user": basic("ann", tokenOf("reader")), "no such token": basic("opencode", tokenOf("nobody")),
		"the password": basic("opencode", "sesame"), "no password": basic("opencode", ""),
	}
	if diff := cmp.Diff(map[string]int{"token": 200, "any user": 200, "no such token": 401, "the password": 200, "no password": 401}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	cookie := logIn(t, r, tokenOf("author"))
	page := func() int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", r.url+"/session?directory="+url.QueryEscape(r.dir), strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Origin", r.url)
		req.AddCookie(cookie)
		res, err := r.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	if status := page(); status != 200 {
		t.Errorf("the page: %d", status)
	}
	for id, who := range c.claims {
		if who != "author" {
			t.Errorf("%s of the page belongs to %q", id, who)
		}
	}
	c.mu.Lock()
	c.gone["author"] = true
	c.mu.Unlock()
	r.srv.rights.known.Forget(people.Hash(tokenOf("author"))) // as if some time had passed
	if status := page(); status != 401 {
		t.Errorf("the page with a revoked token: %d", status)
	}
}

func logIn(t *testing.T, r *rig, password string) *http.Cookie {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", r.url+"/lathe/login", strings.NewReader(fmt.Sprintf(`{"password":%q}`, password)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", r.url)
	req.Header.Set("X-Lathe-Page", "1")
	res, err := r.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	for _, c := range res.Cookies() {
		return c
	}
	t.Fatalf("no cookie: %s", res.Status)
	return nil
}
