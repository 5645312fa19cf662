package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"lathe/internal/config"
)

// access gives the requests of a server its tokens. It never opens a browser: if a
// login is needed it says so.
type access struct {
	l    *Logins
	conf config.MCP

	mu sync.Mutex // one refresh at a time
}

var _ auth.OAuthHandler = (*access)(nil)

func (l *Logins) handler(conf config.MCP) *access { return &access{l: l, conf: conf} }

// TokenSource returns where requests get their token, or nil if there is no login.
func (a *access) TokenSource(context.Context) (oauth2.TokenSource, error) {
	if s, ok := a.l.get(a.conf); !ok || s.Tokens == nil {
		return nil, nil
	}
	return source{a}, nil
}

type source struct{ a *access }

// Token returns a valid token, refreshed if it has expired.
func (s source) Token() (*oauth2.Token, error) { return s.a.token("") }

// token returns the stored token, or a new one if it has expired or is the one that
// the server refused.
func (a *access) token(refused string) (*oauth2.Token, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.l.get(a.conf)
	if !ok || s.Tokens == nil {
		return nil, &LoginError{Server: a.conf.Name}
	}
	t := &oauth2.Token{AccessToken: s.Tokens.Access, RefreshToken: s.Tokens.Refresh, TokenType: "Bearer"}
	if s.Tokens.Expires > 0 {
		t.Expiry = time.Unix(int64(s.Tokens.Expires), 0)
	}
	if t.Valid() && t.AccessToken != refused {
		return t, nil
	}
	if t.RefreshToken == "" || s.Own == nil || s.Own.TokenURL == "" {
		return nil, &LoginError{Server: a.conf.Name, Why: "the login has run out"}
	}
	return a.refresh(s, t)
}

func (a *access) refresh(s stored, t *oauth2.Token) (*oauth2.Token, error) {
	c := oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: s.Own.TokenURL, AuthStyle: oauth2.AuthStyle(s.Own.Style)}}
	if s.Client != nil {
		c.ClientID, c.ClientSecret = s.Client.ID, s.Client.Secret
	}
	ctx, stop := context.WithTimeout(context.WithValue(context.Background(), oauth2.HTTPClient, a.l.client()), startTime)
	defer stop()
	fresh, err := c.TokenSource(ctx, &oauth2.Token{RefreshToken: t.RefreshToken}).Token()
	if err != nil {
		if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
			return nil, &LoginError{Server: a.conf.Name, Why: "the login cannot be renewed: " + e.ErrorCode}
		}
		return nil, fmt.Errorf("renew the login of MCP server %q: %w", a.conf.Name, err)
	}
	err = a.l.update(a.conf, func(s stored) *stored {
		s.setToken(fresh)
		return &s
	})
	return fresh, err
}

// Authorize is called when the server refuses a request. It renews the token if that
// may help, and otherwise says that a login is needed.
func (a *access) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	challenges, _ := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	a.l.refused(a.conf, resp.Header)
	if resp.StatusCode == http.StatusForbidden {
		scopes := insufficient(challenges)
		if scopes == nil {
			return nil // not a matter of logins: the repeated request will show why
		}
		a.l.want(a.conf, scopes)
		return &LoginError{Server: a.conf.Name, Why: "it wants more rights: " + strings.Join(scopes, " ")}
	}
	used := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	if used == "" && a.has() { // the request began before the login
		return nil
	}
	if used != "" {
		if _, err := a.token(used); err == nil {
			return nil
		} else if !isLogin(err) {
			return err
		}
	}
	return &LoginError{Server: a.conf.Name, Register: !a.canRegister(ctx, challenges)}
}

// refused keeps what a server said when it required a login: some require one only for
// part of what they do, and the request that begins a login may not belong to that
// part.
func (l *Logins) refused(conf config.MCP, said http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.said == nil {
		l.said = map[string]http.Header{}
	}
	l.said[conf.URL] = said.Clone()
}

func (a *access) has() bool {
	s, ok := a.l.get(a.conf)
	return ok && s.Tokens != nil
}

// insufficient returns the rights that a refusal names as missing, or nil.
func insufficient(challenges []oauthex.Challenge) []string {
	for _, c := range challenges {
		missing := c.Params["error"] == "insufficient_scope" || c.Params["error"] == "" && c.Params["scope"] != ""
		if strings.EqualFold(c.Scheme, "bearer") && missing {
			return append([]string{}, strings.Fields(c.Params["scope"])...)
		}
	}
	return nil
}

// canRegister reports whether lathe could become a client of the server's logins. If
// that cannot be found out it says yes: the login will show.
func (a *access) canRegister(ctx context.Context, challenges []oauthex.Challenge) bool {
	if s, ok := a.l.get(a.conf); a.conf.OAuth.ClientID != "" || ok && s.Client != nil {
		return true
	}
	issuer := a.issuer(ctx, challenges)
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, a.l.client())
	return err != nil || meta == nil || meta.RegistrationEndpoint != ""
}

// issuer returns who issues the server's tokens.
func (a *access) issuer(ctx context.Context, challenges []oauthex.Challenge) string {
	at, err := url.Parse(a.conf.URL)
	if err != nil {
		return ""
	}
	root := &url.URL{Scheme: at.Scheme, Host: at.Host}
	type place struct{ meta, resource string }
	places := []place{
		{root.String() + "/.well-known/oauth-protected-resource/" + strings.TrimLeft(at.Path, "/"), a.conf.URL},
		{root.String() + "/.well-known/oauth-protected-resource", root.String()},
	}
	for _, c := range challenges {
		if m := c.Params["resource_metadata"]; m != "" {
			places = append([]place{{m, a.conf.URL}}, places...)
		}
	}
	for _, p := range places {
		if prm, err := oauthex.GetProtectedResourceMetadata(ctx, p.meta, p.resource, a.l.client()); err == nil && prm != nil && len(prm.AuthorizationServers) > 0 {
			return prm.AuthorizationServers[0]
		}
	}
	return root.String()
}

// login lets the older transport, which knows no logins, send the stored token.
func (c *carrier) login(a auth.OAuthHandler) {
	own, ok := a.(*access)
	if !ok {
		return
	}
	c.tokens = func(context.Context) (string, error) {
		if !own.has() {
			return "", nil
		}
		t, err := own.token("")
		if err != nil {
			return "", err
		}
		return "Bearer " + t.AccessToken, nil
	}
}
