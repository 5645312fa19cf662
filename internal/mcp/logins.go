package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/oauth2"

	"lathe/internal/config"
)

// LoginError means that a server requires a login.
type LoginError struct {
	Server   string
	Register bool // the server does not register clients automatically
	Why      string
}

// Error says what to do.
func (e *LoginError) Error() string {
	name := clean(e.Server, 80)
	if e.Register {
		return fmt.Sprintf("MCP server %q does not register clients by itself: put a clientId into its oauth settings", name)
	}
	text := fmt.Sprintf("MCP server %q wants a login: lathe mcp auth %s", name, name)
	if e.Why != "" {
		text += " (" + clean(e.Why, 300) + ")"
	}
	return text
}

// Logins keeps the logins of servers in a file that nobody else may read, and carries
// new ones out. It is safe for concurrent use, also by several processes.
type Logins struct {
	Path string
	HTTP *http.Client // nil: [http.DefaultClient]
	Now  func() time.Time

	mu    sync.Mutex
	flows map[string]*Login      // by state
	said  map[string]http.Header // headers of a server's last refusal, by address
	http  *http.Server           // takes callbacks while there are flows
}

// stored is the login of one server, the way OpenCode keeps it.
type stored struct {
	Tokens *struct {
		Access  string  `json:"accessToken"`
		Refresh string  `json:"refreshToken,omitempty"`
		Expires float64 `json:"expiresAt,omitempty"` // seconds
		Scope   string  `json:"scope,omitempty"`
	} `json:"tokens,omitempty"`
	Client *struct {
		ID      string  `json:"clientId"`
		Secret  string  `json:"clientSecret,omitempty"`
		Issued  float64 `json:"clientIdIssuedAt,omitempty"`
		Expires float64 `json:"clientSecretExpiresAt,omitempty"`
	} `json:"clientInfo,omitempty"`
	URL string `json:"serverUrl,omitempty"`
	// Own is what lathe needs beyond that.
	Own *endpoint `json:"lathe,omitempty"`
}

// endpoint is where tokens come from.
type endpoint struct {
	TokenURL string   `json:"tokenUrl"`
	Style    int      `json:"authStyle"`
	Redirect string   `json:"redirectUri,omitempty"`
	Granted  []string `json:"granted,omitempty"`
	Wanted   []string `json:"wanted,omitempty"` // rights that the server asked for since
}

// read returns all logins. The caller holds mu.
func (l *Logins) read() (map[string]stored, error) {
	raw, err := os.ReadFile(l.Path)
	if errors.Is(err, os.ErrNotExist) {
		return map[string]stored{}, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string]stored{}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Path, err)
	}
	return all, nil
}

// get returns the login of a server. A login for another address does not count.
func (l *Logins) get(conf config.MCP) (stored, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, err := l.read()
	if err != nil {
		return stored{}, false
	}
	s, ok := all[conf.Name]
	return s, ok && s.URL == conf.URL
}

// update changes the login of a server; nil from change removes it.
func (l *Logins) update(conf config.MCP, change func(stored) *stored) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(l.Path), 0o700); err != nil {
		return err
	}
	lock := flock.New(l.Path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Unlock()
	all, err := l.read()
	if err != nil {
		return err
	}
	was := all[conf.Name]
	if was.URL != conf.URL {
		was = stored{URL: conf.URL}
	}
	delete(all, conf.Name)
	if now := change(was); now != nil {
		all[conf.Name] = *now
	}
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(l.Path, raw)
}

// replaceFile replaces a file that only its owner may read, atomically.
func replaceFile(path string, raw []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(raw)
	if err == nil {
		err = tmp.Sync()
	}
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// keep stores new tokens and where they came from.
func (l *Logins) keep(conf config.MCP, c *oauth2.Config, t *oauth2.Token) error {
	return l.update(conf, func(s stored) *stored {
		s.setToken(t)
		if s.Client == nil || s.Client.ID != c.ClientID {
			s.Client = &struct {
				ID      string  `json:"clientId"`
				Secret  string  `json:"clientSecret,omitempty"`
				Issued  float64 `json:"clientIdIssuedAt,omitempty"`
				Expires float64 `json:"clientSecretExpiresAt,omitempty"`
			}{ID: c.ClientID}
		}
		s.Client.Secret = c.ClientSecret
		granted := c.Scopes
		if s.Tokens.Scope != "" {
			granted = strings.Fields(s.Tokens.Scope)
		}
		s.Own = &endpoint{TokenURL: c.Endpoint.TokenURL, Style: int(c.Endpoint.AuthStyle), Redirect: c.RedirectURL, Granted: granted}
		return &s
	})
}

func (s *stored) setToken(t *oauth2.Token) {
	old := s.Tokens
	s.Tokens = &struct {
		Access  string  `json:"accessToken"`
		Refresh string  `json:"refreshToken,omitempty"`
		Expires float64 `json:"expiresAt,omitempty"`
		Scope   string  `json:"scope,omitempty"`
	}{Access: t.AccessToken, Refresh: t.RefreshToken}
	if t.RefreshToken == "" && old != nil {
		s.Tokens.Refresh = old.Refresh
	}
	if !t.Expiry.IsZero() {
		s.Tokens.Expires = float64(t.Expiry.Unix())
	}
	if scope, ok := t.Extra("scope").(string); ok {
		s.Tokens.Scope = scope
	} else if old != nil {
		s.Tokens.Scope = old.Scope
	}
}

// want notes rights that a server asks for, to be requested at the next login.
func (l *Logins) want(conf config.MCP, scopes []string) {
	_ = l.update(conf, func(s stored) *stored {
		if s.Own == nil {
			s.Own = &endpoint{}
		}
		for _, scope := range scopes {
			if !slices.Contains(s.Own.Wanted, scope) {
				s.Own.Wanted = append(s.Own.Wanted, scope)
			}
		}
		return &s
	})
}

// States of a login.
const (
	LoggedIn    = "authenticated"
	LoginOver   = "expired"
	NotLoggedIn = "not_authenticated"
)

// State says whether there is a login for a server.
func (l *Logins) State(conf config.MCP) string {
	s, ok := l.get(conf)
	switch {
	case !ok || s.Tokens == nil:
		return NotLoggedIn
	case s.Tokens.Expires > 0 && int64(s.Tokens.Expires) < l.Now().Unix() && s.Tokens.Refresh == "":
		return LoginOver
	}
	return LoggedIn
}

// Forget removes the login of a server and ends those in progress.
func (l *Logins) Forget(conf config.MCP) error {
	l.mu.Lock()
	for _, f := range l.flows {
		if f.conf.Name == conf.Name {
			f.cancel(errors.New("the login was abandoned"))
		}
	}
	l.mu.Unlock()
	return l.update(conf, func(stored) *stored { return nil })
}

func (l *Logins) client() *http.Client {
	if l.HTTP != nil {
		return l.HTTP
	}
	return http.DefaultClient
}
