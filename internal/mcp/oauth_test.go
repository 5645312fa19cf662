package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"lathe/internal/config"
)

// guarded is a server behind a login: the SDK's own check of tokens and metadata, and
// an authorization server that knows what it must.
type guarded struct {
	*httptest.Server
	t          *testing.T
	noRegister bool

	mu         sync.Mutex
	codes      map[string]url.Values // what was asked for, by code
	tokens     map[string]string     // scope, by token
	registered int
	refreshed  int
	needs      string // scope
}

func newGuarded(t *testing.T) *guarded {
	g := &guarded{t: t, codes: map[string]url.Values{}, tokens: map[string]string{}, needs: "read"}
	mux := http.NewServeMux()
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	s := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "in"}}}, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		needs := g.needs
		g.mu.Unlock()
		auth.RequireBearerToken(g.verify, &auth.RequireBearerTokenOptions{
			ResourceMetadataURL: g.URL + "/.well-known/oauth-protected-resource/mcp", Scopes: []string{needs},
		})(handler).ServeHTTP(w, r)
	})
	mux.Handle("/.well-known/oauth-protected-resource/mcp", auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: g.URL + "/mcp", AuthorizationServers: []string{g.URL}, ScopesSupported: []string{"read"},
	}))
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		meta := map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		}
		if !g.noRegister {
			meta["registration_endpoint"] = g.URL + "/register"
		}
		answerJSON(w, http.StatusOK, meta)
	})
	mux.HandleFunc("/register", g.register)
	mux.HandleFunc("/token", g.token)
	return g
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (g *guarded) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	scope, ok := g.tokens[token]
	if !ok {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{Scopes: strings.Fields(scope), Expiration: time.Now().Add(time.Hour)}, nil
}

func (g *guarded) register(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	g.mu.Lock()
	g.registered++
	g.mu.Unlock()
	in["client_id"] = "client-1"
	answerJSON(w, http.StatusCreated, in)
}

// allow is the person in the browser: it returns the address that the browser is sent
// to.
func (g *guarded) allow(address string) string {
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, g.URL+"/authorize?") {
		g.t.Errorf("the login's address is %s", address)
	}
	q := u.Query()
	g.mu.Lock()
	code := fmt.Sprintf("code-%d", len(g.codes))
	g.codes[code] = q
	g.mu.Unlock()
	return q.Get("redirect_uri") + "?code=" + code + "&state=" + url.QueryEscape(q.Get("state"))
}

func (g *guarded) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	g.mu.Lock()
	defer g.mu.Unlock()
	scope := "read"
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		asked, ok := g.codes[r.Form.Get("code")]
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !ok || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || asked.Get("code_challenge_method") != "S256" || r.Form.Get("client_id") != asked.Get("client_id") {
			answerJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		scope = asked.Get("scope")
	case "refresh_token":
		g.refreshed++
		if r.Form.Get("refresh_token") != "again" {
			answerJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
	}
	token := fmt.Sprintf("token-%d", len(g.tokens))
	g.tokens[token] = scope
	answerJSON(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "again", "scope": scope})
}

// expire makes all tokens invalid.
func (g *guarded) expire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for t := range g.tokens {
		g.tokens["old-"+t] = g.tokens[t]
		delete(g.tokens, t)
	}
}

// freePort is a port for callbacks that nobody else uses now.
func freePort(t *testing.T) int {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var port int
	_, _ = fmt.Sscan(u.Port(), &port)
	return port
}

func guardedRig(t *testing.T, dir string, g *guarded) (*rig, config.MCP) {
	conf := config.MCP{Name: "g", Type: "remote", URL: g.URL + "/mcp"}
	conf.OAuth.CallbackPort = freePort(t)
	if dir == "" {
		dir = t.TempDir()
	}
	r := newRig(t, dir, func(o *Options) { o.Logins = &Logins{Path: filepath.Join(dir, "mcp-auth.json"), Now: time.Now} }, conf)
	return r, conf
}

// logIn does what a person does.
func logIn(t *testing.T, r *rig, g *guarded) {
	t.Helper()
	f, err := r.Login(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	if !f.Listens {
		t.Fatal("nobody listens for the browser")
	}
	// Somebody else's answer is refused, and the login goes on.
	if resp, err := http.Get(f.redirect + "?code=x&state=wrong"); err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("an answer with another state: %v, %v", resp, err)
	}
	resp, err := http.Get(g.allow(f.URL))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the browser's answer: %v, %v", resp, err)
	}
	resp.Body.Close()
	if err := r.AwaitLogin(t.Context(), "g", f); err != nil {
		t.Fatal(err)
	}
}

// TestLogin logs in to a server, uses it, and is logged in still in another process and
// when the token has run out.
func TestLogin(t *testing.T) {
	g := newGuarded(t)
	r, conf := guardedRig(t, "", g)
	r.Settle(t.Context())
	st := r.List()[0]
	if st.State != NeedsAuth || st.Why != `MCP server "g" wants a login: lathe mcp auth g` {
		t.Fatalf("before the login it is %s: %s", st.State, st.Why)
	}
	logIn(t, r, g)
	if got := r.do(t.Context(), "g_echo", "{}").Output; got != "in" || r.LoginState("g") != LoggedIn {
		t.Errorf("after the login: %q", got)
	}
	info, err := os.Stat(filepath.Join(r.dir, "mcp-auth.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the logins' file: %v, %v", info, err)
	}
	g.expire()
	if got := r.do(t.Context(), "g_echo", "{}").Output; got != "in" || g.refreshed != 1 {
		t.Errorf("after the token ran out: %q, renewed %d times", got, g.refreshed)
	}
	again := newRig(t, r.dir, func(o *Options) { o.Logins = &Logins{Path: filepath.Join(r.dir, "mcp-auth.json"), Now: time.Now} }, conf)
	if got := again.do(t.Context(), "g_echo", "{}").Output; got != "in" || g.registered != 1 {
		t.Errorf("in another process: %q, registered %d times", got, g.registered)
	}
	if err := r.Logout("g"); err != nil || r.LoginState("g") != NotLoggedIn {
		t.Errorf("after the logout: %v, %s", err, r.LoginState("g"))
	}
	if got := r.do(t.Context(), "g_echo", "{}"); !got.Failed || !strings.Contains(got.Output, "lathe mcp auth g") {
		t.Errorf("a call after the logout: %+v", got)
	}
}

// TestStepUp has a server that wants more rights: the call says so, and the next login
// asks for them beside those that were given.
func TestStepUp(t *testing.T) {
	g := newGuarded(t)
	r, _ := guardedRig(t, "", g)
	logIn(t, r, g)
	g.mu.Lock()
	g.needs = "write"
	g.mu.Unlock()
	got := r.do(t.Context(), "g_echo", "{}")
	if !got.Failed || !strings.Contains(got.Output, "it wants more rights: write") {
		t.Fatalf("the call: %+v", got)
	}
	logIn(t, r, g)
	if got := r.do(t.Context(), "g_echo", "{}").Output; got != "in" {
		t.Errorf("with more rights: %q", got)
	}
	if scopes := strings.Fields(g.codes["code-1"].Get("scope")); !slices.Contains(scopes, "read") || !slices.Contains(scopes, "write") {
		t.Errorf("asked for %q", scopes)
	}
}

// TestPastedLogin finishes a login where no browser can reach lathe.
func TestPastedLogin(t *testing.T) {
	g := newGuarded(t)
	r, _ := guardedRig(t, "", g)
	f, err := r.Login(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.FinishLogin(t.Context(), "g", f.redirect+"?code=c&state=other"); err == nil || !strings.Contains(err.Error(), "another login") {
		t.Errorf("an address of another login: %v", err)
	}
	if err := r.FinishLogin(t.Context(), "g", g.allow(f.URL)); err != nil {
		t.Fatal(err)
	}
	if got := r.do(t.Context(), "g_echo", "{}").Output; got != "in" {
		t.Errorf("after the login: %q", got)
	}
}

// TestNoRegistration tells of a server that registers no clients, and logs in with a
// configured one.
func TestNoRegistration(t *testing.T) {
	g := newGuarded(t)
	g.noRegister = true
	r, conf := guardedRig(t, "", g)
	r.Settle(t.Context())
	if st := r.List()[0]; st.State != NeedsRegistration {
		t.Errorf("it is %s: %s", st.State, st.Why)
	}
	if _, err := r.Login(t.Context(), "g"); err == nil || !strings.Contains(err.Error(), "clientId") {
		t.Errorf("the login: %v", err)
	}
	conf.OAuth.ClientID = "mine"
	r.Add(conf)
	logIn(t, r, g)
	if g.registered != 0 || g.codes["code-0"].Get("client_id") != "mine" {
		t.Errorf("logged in as %q", g.codes["code-0"].Get("client_id"))
	}
}

// TestNoOAuth refuses to log in where that means nothing.
func TestNoOAuth(t *testing.T) {
	r := newRig(t, "", func(o *Options) { o.Logins = &Logins{Path: filepath.Join(o.Dir, "a.json"), Now: time.Now} }, local(t, "s", "plain"))
	if _, err := r.Login(t.Context(), "s"); !errors.Is(err, ErrNoLogin) {
		t.Errorf("the login to a local server: %v", err)
	}
}
