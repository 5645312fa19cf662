package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
)

// issuer is one on loopback, which can be as hostile as a test wants.
type issuer struct {
	t    *testing.T
	url  string
	now  time.Time
	mux  *http.ServeMux
	keys map[string]crypto.Signer // by kid

	mu       sync.Mutex
	asked    map[string]int
	document func(w http.ResponseWriter) // in place of the key set
	code     url.Values                  // with which the code was last redeemed
	token    string                      // that is given for a code
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	one := &issuer{t: t, now: time.Unix(1_800_000_000, 0), mux: http.NewServeMux(), asked: map[string]int{}, keys: map[string]crypto.Signer{}}
	server := httptest.NewServer(one.mux)
	t.Cleanup(server.Close)
	one.url = server.URL
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	one.keys["ed"], one.keys["ec"], one.keys["rs"] = ed, ec, rs
	one.mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		one.count("discovery")
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": one.url, "jwks_uri": one.url + "/keys", "authorization_endpoint": one.url + "/authorize",
			"token_endpoint": one.url + "/token", "id_token_signing_alg_values_supported": []string{"none", "HS256", "RS256"}})
	})
	one.mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		one.count("keys")
		one.mu.Lock()
		defer one.mu.Unlock()
		if one.document != nil {
			one.document(w)
			return
		}
		set := jose.JSONWebKeySet{}
		for kid, key := range one.keys {
			set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: kid, Use: "sig"})
		}
		_ = json.NewEncoder(w).Encode(set)
	})
	one.mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		one.mu.Lock()
		defer one.mu.Unlock()
		one.code = r.PostForm
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": one.token})
	})
	return one
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *issuer) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[what]++
}

func (s *issuer) counted() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.asked)
}

var algorithm = map[string]jose.SignatureAlgorithm{"ed": jose.EdDSA, "ec": jose.ES256, "rs": jose.RS256}

// good are the claims of a token that counts.
func (s *issuer) good() map[string]any {
	return map[string]any{
		"iss": s.url, "aud": "lathe", "sub": "1", "email": "ann@example.com", "email_verified": true,
		"iat": s.now.Unix(), "exp": s.now.Add(time.Hour).Unix(), "groups": []string{"staff"},
	}
}

// with returns the good claims with others; nil takes one away.
func (s *issuer) with(change map[string]any) map[string]any {
	c := s.good()
	for name, v := range change {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	return c
}

func (s *issuer) sign(kid string, key any, alg jose.SignatureAlgorithm, claims map[string]any) string {
	s.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, nil)
	must(s.t, err)
	raw, err := json.Marshal(claims)
	must(s.t, err)
	signed, err := signer.Sign(raw)
	must(s.t, err)
	text, err := signed.CompactSerialize()
	must(s.t, err)
	return text
}

func (s *issuer) token1(claims map[string]any) string {
	s.t.Helper()
	return s.sign("ec", s.keys["ec"], jose.ES256, claims)
}

func (s *issuer) open(change ...func(*Options)) *Issuer {
	o := Options{Issuer: s.url, ClientID: "lathe", Now: func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.now
	}}
	for _, c := range change {
		c(&o)
	}
	return New(o)
}

func (s *issuer) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// What the issuer signed counts, by each kind of key; its documents are fetched once.
func TestTokensOfTheIssuer(t *testing.T) {
	s := newIssuer(t)
	i := s.open()
	want := Person{Name: "ann@example.com", Expires: s.now.Add(time.Hour + leeway)}
	for kid, key := range s.keys {
		got, err := i.Verify(t.Context(), s.sign(kid, key, algorithm[kid], s.good()))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", kid, err, diff)
		}
	}
	if diff := cmp.Diff(map[string]int{"discovery": 1, "keys": 1}, s.counted()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// What somebody else made, or the issuer for somebody else or another time, does not count.
func TestTokensThatDoNotCount(t *testing.T) {
	s := newIssuer(t)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	part := func(v any) string {
		raw, err := json.Marshal(v)
		must(t, err)
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	public, err := json.Marshal(jose.JSONWebKey{Key: s.keys["rs"].Public()})
	must(t, err)
	valid := s.token1(s.good())
	at := func(d time.Duration) int64 { return s.now.Add(d).Unix() }
	cases := map[string]string{
		"none":                 part(map[string]string{"alg": "none"}) + "." + part(s.good()) + ".",
		"none, signed":         part(map[string]string{"alg": "none", "kid": "ec"}) + "." + part(s.good()) + "." + strings.Split(valid, ".")[2],
		"HS256 with the key":   s.sign("rs", public, jose.HS256, s.good()),
		"another's key":        s.sign("ec", stranger, jose.ES256, s.good()),
		"unknown kid":          s.sign("other", s.keys["ec"], jose.ES256, s.good()),
		"wrong kid":            s.sign("rs", s.keys["ec"], jose.ES256, s.good()),
		"changed":              strings.Split(valid, ".")[0] + "." + part(s.with(map[string]any{"email": "eve@example.com"})) + "." + strings.Split(valid, ".")[2],
		"another issuer":       s.token1(s.with(map[string]any{"iss": "https://other.example"})),
		"no issuer":            s.token1(s.with(map[string]any{"iss": nil})),
		"another audience":     s.token1(s.with(map[string]any{"aud": "other"})),
		"other audiences":      s.token1(s.with(map[string]any{"aud": []string{"a", "b", ""}})),
		"no audience":          s.token1(s.with(map[string]any{"aud": nil})),
		"over":                 s.token1(s.with(map[string]any{"exp": at(-leeway)})),
		"never over":           s.token1(s.with(map[string]any{"exp": nil})),
		"not yet":              s.token1(s.with(map[string]any{"nbf": at(leeway + time.Second)})),
		"not yet, by nonsense": s.token1(s.with(map[string]any{"nbf": "soon"})),
		"made later":           s.token1(s.with(map[string]any{"iat": at(leeway + time.Minute)})),
		"email not verified":   s.token1(s.with(map[string]any{"email_verified": false})),
		"email not said to be": s.token1(s.with(map[string]any{"email_verified": nil})),
		"no name":              s.token1(s.with(map[string]any{"email": nil})),
		"a name that is none":  s.token1(s.with(map[string]any{"email": "a b\n"})),
		"a name of a list":     s.token1(s.with(map[string]any{"email": []string{"ann@example.com"}})),
		"empty":                "", "dots": "eyJ..", "garbage": "eyJhbGciOiJFUzI1NiJ9.e30.AAAA", "long": "eyJ" + strings.Repeat("a", maxToken) + ".a.a",
	}
	for name, token := range cases {
		i := s.open()
		if p, err := i.Verify(t.Context(), token); err == nil {
			t.Errorf("%s counts, for %+v", name, p)
		} else if len(token) > 20 && strings.Contains(err.Error(), token) {
			t.Errorf("%s: the error has the token: %v", name, err)
		}
	}
	for name, claims := range map[string]map[string]any{
		"a clock that is behind": s.with(map[string]any{"exp": at(-leeway + time.Second)}), "one that is ahead": s.with(map[string]any{"nbf": at(leeway), "iat": at(leeway)}),
		"one of several audiences": s.with(map[string]any{"aud": []string{"other", "lathe"}}), "a word for yes": s.with(map[string]any{"email_verified": "true"}),
	} {
		if _, err := s.open().Verify(t.Context(), s.token1(claims)); err != nil {
			t.Errorf("%s does not count: %v", name, err)
		}
	}
}

// Roles come from groups, the highest counts; who has none is refused where groups decide.
func TestRolesOfGroups(t *testing.T) {
	s := newIssuer(t)
	roles := map[string]string{"staff": "author", "admins": "owner", "guests": "reader", "odd": "king"}
	for name, tt := range map[string]struct {
		groups any
		want   string
	}{
		"one": {[]string{"staff"}, "author"}, "the highest": {[]string{"guests", "admins", "staff"}, "owner"}, "a text": {"guests", "reader"},
		"none": {[]string{"others"}, ""}, "no groups": {nil, ""}, "no role": {"odd", ""}, "a number": {7, ""},
	} {
		i := s.open(func(o *Options) { o.RoleClaim, o.Roles = "groups", roles })
		p, err := i.Verify(t.Context(), s.token1(s.with(map[string]any{"groups": tt.groups})))
		if p.Role != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v", name, p.Role, err)
		}
	}
}

// New keys are found, but made-up ones do not make the server ask again and again.
func TestKeysAreRotated(t *testing.T) {
	s := newIssuer(t)
	i := s.open()
	if _, err := i.Verify(t.Context(), s.token1(s.good())); err != nil {
		t.Fatal(err)
	}
	fresh, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	must(t, err)
	s.mu.Lock()
	s.keys = map[string]crypto.Signer{"new": fresh}
	s.mu.Unlock()
	s.wait(rest)
	token := func() string { return s.sign("new", fresh, jose.ES384, s.good()) }
	if _, err := i.Verify(t.Context(), token()); err != nil {
		t.Errorf("a new key: %v", err)
	}
	before := s.counted()["keys"]
	for n := range 20 {
		if _, err := i.Verify(t.Context(), s.sign(fmt.Sprint("made up ", n), fresh, jose.ES384, s.good())); err == nil {
			t.Error("a made-up key counts")
		}
	}
	if after := s.counted()["keys"]; after > before {
		t.Errorf("the keys were fetched %d times for tokens that somebody made up", after-before)
	}
	if _, err := i.Verify(t.Context(), token()); err != nil {
		t.Errorf("after them: %v", err)
	}
}

// An issuer that is down, slow, talks too much, sends elsewhere or is another one is an error,
// and is asked again later.
func TestHostileIssuer(t *testing.T) {
	huge := func(w http.ResponseWriter) {
		_, _ = w.Write([]byte(`{"keys":[`))
		chunk := []byte(strings.Repeat(" ", 1<<16))
		for range 64 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
		_, _ = w.Write([]byte("]}"))
	}
	for name, document := range map[string]func(http.ResponseWriter){
		"huge":     huge,
		"redirect": func(w http.ResponseWriter) { w.Header().Set("Location", "/elsewhere"); w.WriteHeader(http.StatusFound) },
		"garbage":  func(w http.ResponseWriter) { _, _ = w.Write([]byte("{")) },
		"failing":  func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
		"empty":    func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"keys":[]}`)) },
	} {
		s := newIssuer(t)
		s.mux.HandleFunc("/elsewhere", func(http.ResponseWriter, *http.Request) { s.count("elsewhere") })
		s.document = document
		i := s.open()
		if _, err := i.Verify(t.Context(), s.token1(s.good())); err == nil {
			t.Errorf("%s: a token counts", name)
		}
		if n := s.counted()["elsewhere"]; n != 0 {
			t.Errorf("%s: the redirect was followed", name)
		}
		s.mu.Lock()
		s.document = nil
		s.mu.Unlock()
		s.wait(rest)
		if _, err := i.Verify(t.Context(), s.token1(s.good())); err != nil {
			t.Errorf("%s: later: %v", name, err)
		}
	}
	s := newIssuer(t)
	s.document = func(http.ResponseWriter) { <-t.Context().Done() } // it never answers
	hurry, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := s.open().Verify(hurry, s.token1(s.good())); err == nil {
		t.Error("a token counts whose keys never come")
	}
	other := newIssuer(t)
	i := New(Options{Issuer: other.url + "/tenant", ClientID: "lathe", Now: func() time.Time { return other.now }})
	if _, err := i.Verify(t.Context(), other.token1(other.good())); err == nil || !strings.Contains(err.Error(), other.url+"/tenant") {
		t.Errorf("an issuer that is not there: %v", err)
	}
}

// A login is ended by the browser that began it, with the proof and the token that belong to it.
func TestLogin(t *testing.T) {
	s := newIssuer(t)
	i, ctx, redirect := s.open(), t.Context(), "https://lathe.example/lathe/login/oidc/callback"
	address, l, err := i.Begin(ctx, redirect)
	must(t, err)
	at, err := url.Parse(address)
	must(t, err)
	q := at.Query()
	got := map[string]string{}
	for _, name := range []string{"client_id", "redirect_uri", "response_type", "scope", "code_challenge_method"} {
		got[name] = q.Get(name)
	}
	want := map[string]string{"client_id": "lathe", "redirect_uri": redirect, "response_type": "code", "scope": "openid profile email", "code_challenge_method": "S256"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	if q.Get("state") != l.State || q.Get("nonce") != l.Nonce || len(l.State) < 20 || len(l.Nonce) < 20 || strings.Contains(address, l.Verifier) {
		t.Errorf("the login is %+v, the address %s", l, address)
	}
	give := func(nonce any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.token = s.token1(s.with(map[string]any{"nonce": nonce}))
	}
	give(l.Nonce)
	p, _, err := i.Finish(ctx, redirect, l, l.State, "c0de")
	if p.Name != "ann@example.com" || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	if s.code.Get("code") != "c0de" || s.code.Get("code_verifier") != l.Verifier || s.code.Get("redirect_uri") != redirect {
		t.Errorf("redeemed with %v", s.code)
	}
	for _, state := range []string{"", "other", l.State + "x"} {
		if _, _, err := i.Finish(ctx, redirect, l, state, "c0de"); err == nil {
			t.Errorf("the state %q is taken", state)
		}
	}
	if _, _, err := i.Finish(ctx, redirect, Login{}, "", "c0de"); err == nil {
		t.Error("a login that nobody began is taken")
	}
	for _, nonce := range []any{"other", nil} {
		give(nonce)
		if _, _, err := i.Finish(ctx, redirect, l, l.State, "c0de"); err == nil {
			t.Errorf("the nonce %v is taken", nonce)
		}
	}
}

// Nothing that may come as a token is more than refused.
func FuzzVerify(f *testing.F) {
	for _, text := range []string{"", "eyJ..", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJFUzI1NiIsImtpZCI6IiJ9.e30.AAAA"} {
		f.Add(text)
	}
	i := New(Options{Issuer: "http://127.0.0.1:1", ClientID: "lathe"})
	f.Fuzz(func(t *testing.T, token string) {
		if p, err := i.Verify(context.Background(), token); err == nil {
			t.Errorf("%q counts for %+v", token, p)
		}
	})
}
