package server

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe/internal/people"
	"lathe/internal/server/gate"
	"lathe/internal/store"
)

// asPage makes a request as the page does that has the cookie.
func (r *rig) asPage(method, path string, cookie *http.Cookie) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader("{}"))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", r.url)
	req.AddCookie(cookie)
	res, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// A page that logged in at one server is logged in at all that share a store, as the same person,
// and logged out of all; when its person is removed, or its token revoked, that is over everywhere.
func TestLoginsHoldAtEveryServer(t *testing.T) {
	var mu sync.Mutex
	now := time.Now()
	clock := func(o *Options) {
		o.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
	}
	later := func() {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(gate.Fresh)
	}
	one, c := namedRig(t, clock)
	two, _ := namedRig(t, clock, func(o *Options) { o.Store.People, o.Store.Belongings, o.Store.Audit, o.Store.Logins = c, c, c, c })
	make := func(r *rig) string { return "/session?directory=" + url.QueryEscape(r.dir) }
	mine, owners, others := logIn(t, one, tokenOf("author")), logIn(t, one, "sesame"), logIn(t, two, tokenOf("other"))
	if got, want := two.asPage("POST", make(two), mine), 200; got != want {
		t.Errorf("at the other server: %d", got)
	}
	if got := two.asPage("POST", "/global/dispose", mine); got != 403 {
		t.Errorf("what the author may not: %d", got)
	}
	if got := two.asPage("GET", "/project", owners); got != 200 {
		t.Errorf("with the password: %d", got)
	}
	c.mu.Lock()
	for id, who := range c.claims {
		if who != "author" {
			t.Errorf("%s belongs to %q", id, who)
		}
	}
	c.gone["other"] = true
	c.mu.Unlock()
	if got := two.asPage("DELETE", "/lathe/login", mine); got != 200 {
		t.Errorf("log out: %d", got)
	}
	later()
	for name, r := range map[string]*rig{"one": one, "two": two} {
		got := []int{r.asPage("GET", "/path", mine), r.asPage("GET", "/path", others), r.asPage("GET", "/path", owners)}
		if diff := cmp.Diff([]int{401, 401, 200}, got); diff != "" {
			t.Errorf("at server %s: logged out, revoked, with the password (-want +got):\n%s", name, diff)
		}
	}
	var told []store.Change
	for _, change := range c.told {
		if strings.HasSuffix(change.What, "/lathe/login") && strings.HasPrefix(change.About, "login_") && change.From != "" {
			told = append(told, change)
		}
	}
	want := []store.Change{{Person: "author", What: "POST /lathe/login"}, {What: "POST /lathe/login"}, {Person: "other", What: "POST /lathe/login"}, {Person: "author", What: "DELETE /lathe/login"}}
	if diff := cmp.Diff(want, told, cmpopts.IgnoreFields(store.Change{}, "From", "About")); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// Somebody who is added by the name of one who was removed has no part in that one's logins, and
// nobody whom the gate did not let in is taken for an owner.
func TestLoginsOfRemovedPeople(t *testing.T) {
	r, c := namedRig(t)
	made := time.Now()
	c.all["ann"] = store.Person{Name: "ann", Role: people.Owner, Created: made.Add(time.Second)}
	c.all["bob"] = store.Person{Name: "bob", Role: people.Owner, Created: made.Add(-time.Second)}
	rights := r.srv.rights
	for name, who := range map[string]gate.Caller{"another ann": {Login: &store.Login{ID: "login_1", Person: "ann", Created: made}}, "nobody": {}, "an unknown token": {Token: []byte("x")}} {
		if g, err := rights.of(t.Context(), who); err == nil {
			t.Errorf("%s may what %+v may", name, g)
		}
	}
	if g, err := rights.of(t.Context(), gate.Caller{Login: &store.Login{ID: "login_2", Person: "bob", Role: people.Reader, Created: made}}); err != nil || g.Name != "bob" || g.Role != people.Reader {
		t.Errorf("bob may %+v, %v", g, err)
	}
}
