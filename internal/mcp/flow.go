package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"lathe/internal/config"
)

const (
	callbackPort = 19876
	callbackPath = "/mcp/oauth/callback"
	loginTime    = 5 * time.Minute
)

// Login is a login that waits for the person to allow it in a browser.
type Login struct {
	URL      string // to be opened
	Listens  bool   // lathe listens for the browser's answer; else it has to be pasted
	Already  bool   // no login is needed
	conf     config.MCP
	state    string
	given    chan *auth.AuthorizationResult
	cancel   context.CancelCauseFunc
	done     chan struct{}
	err      error // valid once done is closed
	redirect string
}

// ErrNoLogin means that a server does not support logins.
var ErrNoLogin = errors.New("it does not support OAuth")

// Begin begins a login and returns when its address is known. It ends by itself after
// five minutes.
func (l *Logins) Begin(ctx context.Context, conf config.MCP) (*Login, error) {
	if conf.Type != "remote" || conf.OAuth.Off {
		return nil, ErrNoLogin
	}
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	life, stop := context.WithTimeoutCause(life, loginTime, fmt.Errorf("nobody logged in within %s", loginTime))
	f := &Login{conf: conf, given: make(chan *auth.AuthorizationResult, 1), cancel: cancel, done: make(chan struct{}), redirect: redirectOf(conf)}
	known := make(chan struct{})
	handler, err := l.flowHandler(f, known)
	if err != nil {
		stop()
		return nil, err
	}
	req, resp, err := l.knock(ctx, conf)
	if err != nil {
		stop()
		return nil, err
	}
	if said := l.lastSaid(conf); said != nil && resp.StatusCode != http.StatusUnauthorized {
		resp.StatusCode, resp.Header = http.StatusUnauthorized, said
	}
	if resp.StatusCode != http.StatusUnauthorized && len(f.wanted(l)) == 0 {
		resp.Body.Close()
		stop()
		f.Already = resp.StatusCode < 300
		if !f.Already {
			return nil, fmt.Errorf("the server answers %s instead of asking for a login", resp.Status)
		}
		close(f.done)
		return f, nil
	}
	if resp.StatusCode != http.StatusUnauthorized { // it only wants more rights
		resp.StatusCode = http.StatusUnauthorized
	}
	go func() { // ends with life
		defer stop()
		defer close(f.done)
		defer l.drop(f)
		f.err = wordFlow(life, conf, handler.Authorize(life, req, resp))
	}()
	select {
	case <-known:
		return f, nil
	case <-f.done:
		return nil, f.err
	case <-ctx.Done():
		cancel(context.Cause(ctx))
		return nil, context.Cause(ctx)
	}
}

func (l *Logins) lastSaid(conf config.MCP) http.Header {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said[conf.URL]
}

// wordFlow says how a login failed.
func wordFlow(ctx context.Context, conf config.MCP, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case strings.Contains(err.Error(), "no configured client registration methods"):
		return &LoginError{Server: conf.Name, Register: true}
	}
	return err
}

// wanted are the rights that the server asked for since the last login.
func (f *Login) wanted(l *Logins) []string {
	if s, ok := l.get(f.conf); ok && s.Own != nil {
		return s.Own.Wanted
	}
	return nil
}

// knock sends the server a request without a token, to learn where to log in.
func (l *Logins) knock(ctx context.Context, conf config.MCP) (*http.Request, *http.Response, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + legacy + `","capabilities":{},"clientInfo":{"name":"lathe","version":"0"}}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, conf.URL, bytes.NewBufferString(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range conf.Headers {
		req.Header.Set(name, value)
	}
	resp, err := l.client().Do(req)
	return req, resp, err
}

// flowHandler returns the handler that carries the login out.
func (l *Logins) flowHandler(f *Login, known chan struct{}) (*auth.AuthorizationCodeHandler, error) {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: f.redirect, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: l.client(),
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			u, err := url.Parse(args.URL)
			if err != nil {
				return nil, err
			}
			if u.Scheme != "https" && u.Scheme != "http" { // a browser would start another program
				return nil, fmt.Errorf("the login's address is not one of http or https: %.100q", args.URL)
			}
			f.URL, f.state = args.URL, u.Query().Get("state")
			f.Listens = l.listen(f)
			close(known)
			select {
			case r := <-f.given:
				return r, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		},
		ScopeFilter: func(found []string) []string { return l.scopes(f.conf, found) },
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			if err := l.keep(f.conf, c, t); err != nil {
				return nil, fmt.Errorf("the login could not be stored: %w", err)
			}
			return c.TokenSource(ctx, t), nil
		},
	}
	id, secret := l.clientOf(f.conf, f.redirect)
	if id != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id}
		if secret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
		}
	} else {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{f.redirect}, TokenEndpointAuthMethod: "none", GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, ClientName: "lathe",
		}}
	}
	return auth.NewAuthorizationCodeHandler(c)
}

// clientOf returns who lathe is to the server: as configured, or as registered
// earlier with the same redirect address.
func (l *Logins) clientOf(conf config.MCP, redirect string) (id, secret string) {
	if conf.OAuth.ClientID != "" {
		return conf.OAuth.ClientID, conf.OAuth.ClientSecret
	}
	s, ok := l.get(conf)
	if !ok || s.Client == nil || s.Own == nil || s.Own.Redirect != redirect || s.Client.Expires > 0 && int64(s.Client.Expires) < l.Now().Unix() {
		return "", ""
	}
	return s.Client.ID, s.Client.Secret
}

// scopes are the rights to ask for: the configured ones, else those that the server
// names, plus those that it asked for later or granted earlier.
func (l *Logins) scopes(conf config.MCP, found []string) []string {
	out := found
	if conf.OAuth.Scope != "" {
		out = strings.Fields(conf.OAuth.Scope)
	}
	s, ok := l.get(conf)
	if !ok || s.Own == nil || len(s.Own.Wanted) == 0 {
		return out
	}
	for _, scope := range append(slices.Clone(s.Own.Granted), s.Own.Wanted...) {
		if !slices.Contains(out, scope) {
			out = append(out, scope)
		}
	}
	return out
}

func redirectOf(conf config.MCP) string {
	if conf.OAuth.RedirectURI != "" {
		return conf.OAuth.RedirectURI
	}
	port := callbackPort
	if conf.OAuth.CallbackPort > 0 {
		port = conf.OAuth.CallbackPort
	}
	return "http://127.0.0.1:" + strconv.Itoa(port) + callbackPath
}

// Finish gives a login the code, or the whole address that the browser was sent to,
// and returns when the login is complete.
func (f *Login) Finish(ctx context.Context, answer string) error {
	r, err := f.read(strings.TrimSpace(answer))
	if err != nil {
		return err
	}
	select {
	case f.given <- r:
	default:
	}
	return f.Wait(ctx)
}

func (f *Login) read(answer string) (*auth.AuthorizationResult, error) {
	if !strings.Contains(answer, "://") {
		return &auth.AuthorizationResult{Code: answer, State: f.state}, nil
	}
	u, err := url.Parse(answer)
	if err != nil {
		return nil, errors.New("that is not an address")
	}
	q := u.Query()
	if e := q.Get("error"); e != "" {
		return nil, fmt.Errorf("the login was refused: %s %s", clean(e, 100), clean(q.Get("error_description"), 300))
	}
	if q.Get("code") == "" {
		return nil, errors.New("the address holds no code; paste the one that the browser was sent to")
	}
	if q.Get("state") != f.state {
		return nil, errors.New("the address belongs to another login (its state differs)")
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// Wait returns when the login is complete, or why it failed.
func (f *Login) Wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Pending returns a server's newest login in progress; nil if there is none.
func (l *Logins) Pending(name string) *Login {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.flows {
		if f.conf.Name == name {
			return f
		}
	}
	return nil
}

// listen begins to listen for the browser's answer, and reports whether that is
// possible. An earlier login of the same server ends.
func (l *Logins) listen(f *Login) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flows == nil {
		l.flows = map[string]*Login{}
	}
	for _, old := range l.flows {
		if old.conf.Name == f.conf.Name {
			old.cancel(errors.New("another login of the server was begun"))
		}
	}
	l.flows[f.state] = f
	u, err := url.Parse(f.redirect)
	if err != nil || u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost" && u.Hostname() != "::1" {
		return false
	}
	if l.http != nil && l.http.Addr == u.Host {
		return true
	}
	at, err := net.Listen("tcp", u.Host)
	if err != nil {
		return false // perhaps another lathe listens there: the address can be pasted
	}
	if l.http != nil {
		l.http.Close()
	}
	l.http = &http.Server{Addr: u.Host, Handler: http.HandlerFunc(l.callback), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 32 << 10}
	go l.http.Serve(at) // ended by drop, with the last login
	return true
}

// drop forgets a login, and stops listening with the last one.
func (l *Logins) drop(f *Login) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flows[f.state] == f {
		delete(l.flows, f.state)
	}
	if len(l.flows) == 0 && l.http != nil {
		server := l.http
		l.http = nil
		go func() { // the page that says so is still on its way
			ctx, stop := context.WithTimeout(context.Background(), time.Second)
			defer stop()
			_ = server.Shutdown(ctx)
		}()
	}
}

// callback handles the browser's answer. One whose state belongs to no login is
// refused, and pending logins go on.
func (l *Logins) callback(w http.ResponseWriter, r *http.Request) {
	u, _ := url.Parse("http://" + r.Host + r.URL.String())
	l.mu.Lock()
	f := l.flows[r.URL.Query().Get("state")]
	l.mu.Unlock()
	if f == nil {
		page(w, http.StatusBadRequest, "This answer belongs to no login that is waiting.", "It may be old, or made up by somebody else (CSRF). Nothing was changed.")
		return
	}
	result, err := f.read(u.String())
	if err != nil {
		f.cancel(err)
		page(w, http.StatusBadRequest, "The login failed.", err.Error())
		return
	}
	select {
	case f.given <- result:
	default:
	}
	if err := f.Wait(r.Context()); err != nil {
		page(w, http.StatusBadRequest, "The login failed.", err.Error())
		return
	}
	page(w, http.StatusOK, "You are logged in.", "You can close this page and go back to lathe.")
}

func page(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html><title>lathe</title><body style=\"font:16px sans-serif;margin:4em\"><h1>%s</h1><p>%s</p>", html.EscapeString(title), html.EscapeString(clean(text, 1000)))
}

// State identifies the login in the browser's answer.
func (f *Login) State() string { return f.state }
