package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"lathe/internal/oidc"
	"lathe/internal/server/gate"
	"lathe/internal/store"
)

// testIssuer is an issuer on loopback.
type testIssuer struct {
	t   *testing.T
	url string
	key *ecdsa.PrivateKey

	mu    sync.Mutex
	token string // that is given for a code
}

func newTestIssuer(t *testing.T) *testIssuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	one, mux := &testIssuer{t: t, key: key}, http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	one.url = server.URL
	answer := func(path string, what func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(what())
		})
	}
	answer("/.well-known/openid-configuration", func() any {
		return map[string]string{"issuer": one.url, "jwks_uri": one.url + "/keys", "authorization_endpoint": one.url + "/authorize", "token_endpoint": one.url + "/token"}
	})
	answer("/keys", func() any {
		return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Use: "sig"}}}
	})
	answer("/token", func() any {
		one.mu.Lock()
		defer one.mu.Unlock()
		return map[string]string{"access_token": "x", "token_type": "Bearer", "id_token": one.token}
	})
	return one
}

// says returns a token for a person, by the clock of this machine.
func (s *testIssuer) says(name, group, nonce string, life time.Duration) string {
	s.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: s.key, KeyID: "k"}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"iss": s.url, "aud": "lathe", "sub": "1", "name": name, "groups": []string{group}, "nonce": nonce,
		"iat": time.Now().Unix(), "exp": time.Now().Add(life).Unix()})
	if err != nil {
		s.t.Fatal(err)
	}
	signed, err := signer.Sign(raw)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

func issuedRig(t *testing.T, create string, clock func() time.Time) (*rig, *crowd, *testIssuer) {
	t.Helper()
	s := newTestIssuer(t)
	r, c := namedRig(t, func(o *Options) {
		o.Now = clock
		o.OIDC = &OIDC{Create: create, Issuer: oidc.New(oidc.Options{Issuer: s.url, ClientID: "lathe", NameClaim: "name", RoleClaim: "groups", Now: clock,
			Roles: map[string]string{"staff": "author", "guests": "reader"}})}
	})
	return r, c, s
}

// ask makes a request with a token, as a bearer's or in the place of the password.
func (r *rig) ask(method, path, token string, basic bool) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader("{}"))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if basic {
		req.SetBasicAuth("opencode", token)
	} else {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// A token of the issuer lets its person in, as far as the groups and the person's projects
// go, until it is over or the person is removed; who is new is added only where that is configured.
func TestTokensOfAnIssuer(t *testing.T) {
	var mu sync.Mutex
	now := time.Now()
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	r, c, s := issuedRig(t, "", clock)
	c.mu.Lock()
	c.all["ann"] = store.Person{Name: "ann", Role: "owner"}
	c.all["bob"] = store.Person{Name: "bob", Role: "owner", Projects: []string{"/nowhere"}}
	c.mu.Unlock()
	at := "/session?directory=" + url.QueryEscape(r.dir)
	ann := s.says("ann", "staff", "", time.Hour)
	got := map[string]int{
		"ann": r.ask("POST", at, ann, false), "as a password": r.ask("POST", at, ann, true), "again": r.ask("GET", at, ann, false),
		"her role is that of the group": r.ask("POST", "/global/dispose", ann, false),
		"ann as a guest":                r.ask("POST", at, s.says("ann", "guests", "", time.Hour), false),
		"bob":                           r.ask("POST", at, s.says("bob", "staff", "", time.Hour), false),
		"no group":                      r.ask("GET", at, s.says("ann", "others", "", time.Hour), false),
		"nobody was added":              r.ask("GET", at, s.says("eve", "staff", "", time.Hour), false),
		"over":                          r.ask("GET", at, s.says("ann", "staff", "", -time.Hour), false),
		"made up":                       r.ask("GET", at, ann[:len(ann)-8]+"AAAAAAAA", false),
	}
	want := map[string]int{"ann": 200, "as a password": 200, "again": 200, "her role is that of the group": 403, "ann as a guest": 403, "bob": 403, "no group": 401, "nobody was added": 401, "over": 401, "made up": 401}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.mu.Lock()
	owners := map[string]int{}
	for _, who := range c.claims {
		owners[who]++
	}
	c.mu.Unlock()
	if diff := cmp.Diff(map[string]int{"ann": 2}, owners); diff != "" {
		t.Errorf("the sessions belong to (-want +got):\n%s", diff)
	}
	c.mu.Lock()
	c.gone["ann"] = true
	c.mu.Unlock()
	mu.Lock()
	now = now.Add(gate.Fresh)
	mu.Unlock()
	if status := r.ask("GET", at, ann, false); status != 401 {
		t.Errorf("one who was removed: %d", status)
	}
	c.mu.Lock()
	c.gone["ann"] = false
	c.mu.Unlock()
	mu.Lock()
	now = now.Add(2 * time.Hour)
	mu.Unlock()
	if status := r.ask("GET", at, ann, false); status != 401 {
		t.Errorf("when it is over: %d", status)
	}
}

// Where it is configured, who comes for the first time is added, and that is recorded.
func TestNewPeopleOfAnIssuer(t *testing.T) {
	r, c, s := issuedRig(t, "reader", time.Now)
	if status := r.ask("GET", "/path", s.says("eve", "staff", "", time.Hour), false); status != 200 {
		t.Errorf("somebody new: %d", status)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if diff := cmp.Diff(store.Person{Name: "eve", Role: "author"}, c.all["eve"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]store.Change{{Person: "eve", Token: "oidc", What: "person added", About: "eve: author"}}, c.told); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// browser keeps cookies and follows nothing by itself.
type browser struct {
	r       *rig
	cookies map[string]*http.Cookie
	page    string // what it got last
}

func (b *browser) get(path string, header ...string) *http.Response {
	b.r.t.Helper()
	req, err := http.NewRequestWithContext(b.r.t.Context(), "GET", b.r.url+path, nil)
	if err != nil {
		b.r.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	for _, c := range b.cookies {
		req.AddCookie(c)
	}
	client := *b.r.http
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		b.r.t.Fatal(err)
	}
	page, err := io.ReadAll(res.Body)
	if err != nil {
		b.r.t.Fatal(err)
	}
	b.page = string(page)
	_ = res.Body.Close()
	for _, c := range res.Cookies() {
		if b.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return res
}

// A page logs in through the issuer: only the browser that began the login ends it, and the
// cookie that it gets lets it in as the person.
func TestPageLogsInAtAnIssuer(t *testing.T) {
	r, c, s := issuedRig(t, "", time.Now)
	c.mu.Lock()
	c.all["ann"] = store.Person{Name: "ann", Role: "author"}
	c.mu.Unlock()
	b, stranger := &browser{r: r, cookies: map[string]*http.Cookie{}}, &browser{r: r, cookies: map[string]*http.Cookie{}}
	begun := b.get(loginOIDC)
	at, err := begun.Location()
	if err != nil || begun.StatusCode != http.StatusFound || !strings.HasPrefix(at.String(), s.url+"/authorize?") {
		t.Fatalf("%s to %v, %v", begun.Status, at, err)
	}
	kept := b.cookies[oidcCookie]
	if kept == nil || !kept.HttpOnly || kept.SameSite != http.SameSiteLaxMode || kept.Path != loginOIDC || strings.Contains(at.String(), kept.Value) {
		t.Fatalf("the browser keeps %+v", kept)
	}
	if back := at.Query().Get("redirect_uri"); back != r.url+loginOIDC+"/callback" {
		t.Errorf("the issuer sends it back to %s", back)
	}
	s.mu.Lock()
	s.token = s.says("ann", "staff", at.Query().Get("nonce"), time.Minute)
	s.mu.Unlock()
	callback := loginOIDC + "/callback?code=c&state=" + at.Query().Get("state")
	cross := []string{"Sec-Fetch-Site", "cross-site"}
	for name, try := range map[string]func() *http.Response{
		"a browser that began none": func() *http.Response { return stranger.get(callback, cross...) },
		"another state": func() *http.Response {
			return (&browser{r: r, cookies: map[string]*http.Cookie{oidcCookie: kept}}).get(loginOIDC+"/callback?code=c&state=x", cross...)
		},
		"a refusal": func() *http.Response {
			return (&browser{r: r, cookies: map[string]*http.Cookie{oidcCookie: kept}}).get(loginOIDC+"/callback?error=access_denied", cross...)
		},
	} {
		if res := try(); res.StatusCode != http.StatusBadRequest || len(res.Cookies()) > 1 || len(stranger.cookies) != 0 {
			t.Errorf("%s: %s", name, res.Status)
		}
	}
	if res := b.get(callback, cross...); res.StatusCode != http.StatusOK || b.cookies[oidcCookie] != nil {
		t.Errorf("back from the issuer: %s", res.Status)
	}
	login := b.cookies["lathe_login"]
	if login == nil || !login.HttpOnly || login.SameSite != http.SameSiteStrictMode {
		t.Fatalf("the login is %+v", login)
	}
	if res := b.get("/path", "Sec-Fetch-Site", "same-origin"); res.StatusCode != http.StatusOK {
		t.Errorf("the page: %s", res.Status)
	}
	if res := b.get("/path", cross...); res.StatusCode == http.StatusOK {
		t.Errorf("a page of another site: %s", res.Status)
	}
	if res := b.get("/global/dispose", "Sec-Fetch-Site", "same-origin"); res.StatusCode == http.StatusOK {
		t.Errorf("what an owner may: %s", res.Status)
	}
}

// Behind a proxy that adds a prefix to the path, which the server's address tells, the browser
// is sent to, keeps and comes back to what is below the prefix.
func TestPageLogsInBehindAPrefix(t *testing.T) {
	r, c, s := issuedRig(t, "", time.Now)
	r.srv.opts.OIDC.URL = "https://lathe.example/team/"
	c.mu.Lock()
	c.all["ann"] = store.Person{Name: "ann", Role: "author"}
	c.mu.Unlock()
	b := &browser{r: r, cookies: map[string]*http.Cookie{}}
	at, err := b.get(loginOIDC).Location()
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.token = s.says("ann", "staff", at.Query().Get("nonce"), time.Minute)
	s.mu.Unlock()
	kept := b.cookies[oidcCookie]
	res := b.get(loginOIDC+"/callback?code=c&state="+at.Query().Get("state"), "Sec-Fetch-Site", "cross-site")
	got := []string{at.Query().Get("redirect_uri"), kept.Path, res.Status, b.page}
	want := []string{"https://lathe.example/team" + loginOIDC + "/callback", "/team" + loginOIDC, "200 OK",
		`<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/team/"><title>lathe</title><a href="/team/">lathe</a>` + "\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without an issuer there is no such login.
func TestNoIssuer(t *testing.T) {
	r, _ := namedRig(t)
	for _, path := range []string{loginOIDC, loginOIDC + "/callback?code=c&state=s"} {
		if status, body := r.as("", "GET", path, ""); status != http.StatusNotFound || !strings.Contains(body, "no issuer") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}
