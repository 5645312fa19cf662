package server

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"lathe/internal/oidc"
	"lathe/internal/people"
	"lathe/internal/store"
)

// publishedIssuer is a process with an issuer that others have written.
type publishedIssuer struct {
	t    *testing.T
	url  string
	in   io.Writer
	says *bufio.Scanner
}

func newPublishedIssuer(t *testing.T, redirect string) *publishedIssuer {
	t.Helper()
	cmd := exec.Command("node", "testdata/issuer.mjs", redirect)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		_ = cmd.Wait()
	})
	p := &publishedIssuer{t: t, in: in, says: bufio.NewScanner(out)}
	p.url = p.line()
	return p
}

func (p *publishedIssuer) line() string {
	p.t.Helper()
	for p.says.Scan() {
		if line := p.says.Text(); line == "done" || strings.HasPrefix(line, "http://127.0.0.1:") {
			return line
		}
	}
	p.t.Fatal("the issuer has ended")
	return ""
}

// tell changes who logs in, or the keys.
func (p *publishedIssuer) tell(what string) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, what); err != nil {
		p.t.Fatal(err)
	}
	p.line()
}

// back follows a login through the issuer, as a browser does, and returns where it is sent
// back to.
func (p *publishedIssuer) back(address, redirect string) *url.URL {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	var at *url.URL
	c := http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), redirect) {
			at = r.URL
			return http.ErrUseLastResponse
		}
		return nil
	}}
	res, err := c.Get(address)
	if err != nil {
		p.t.Fatal(err)
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, 2000))
	_ = res.Body.Close()
	if at == nil {
		p.t.Fatalf("the issuer leads to %s %s:\n%s", res.Request.URL, res.Status, body)
	}
	return at
}

// token gets a token for a client, as a program that people use does: one that names the person, or,
// for a resource, an access token.
func (p *publishedIssuer) token(client, redirect, resource string) string {
	p.t.Helper()
	conf := oauth2.Config{ClientID: client, RedirectURL: redirect, Scopes: []string{"openid", "email", "groups"},
		Endpoint: oauth2.Endpoint{AuthURL: p.url + "/auth", TokenURL: p.url + "/token", AuthStyle: oauth2.AuthStyleInParams}}
	verifier := oauth2.GenerateVerifier()
	options, exchange := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier)}, []oauth2.AuthCodeOption{oauth2.VerifierOption(verifier)}
	if resource != "" {
		conf.Scopes = append(conf.Scopes, "api")
		of := oauth2.SetAuthURLParam("resource", resource)
		options, exchange = append(options, of), append(exchange, of)
	}
	at := p.back(conf.AuthCodeURL("state", options...), redirect)
	got, err := conf.Exchange(p.t.Context(), at.Query().Get("code"), exchange...)
	if err != nil {
		p.t.Fatal(err)
	}
	if resource != "" {
		return got.AccessToken
	}
	id, _ := got.Extra("id_token").(string)
	return id
}

// People log in at an issuer that others have written (oidc-provider): the page with a code and
// PKCE, programs with tokens; with the rights of their groups; not with what is for others, is
// over, or was signed with keys that are no more.
func TestPublishedIssuer(t *testing.T) {
	if os.Getenv("LATHE_ISSUER_NPM") == "" {
		t.Skip("LATHE_ISSUER_NPM names no directory with oidc-provider; .ci/issuer does")
	}
	var mu sync.Mutex
	late := time.Duration(0)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(late)
	}
	r, c := namedRig(t, func(o *Options) {
		o.Now = clock
		o.OIDC = &OIDC{Create: people.Reader}
	})
	redirect := r.url + loginOIDC + "/callback"
	p := newPublishedIssuer(t, redirect)
	made := oidc.New(oidc.Options{Issuer: p.url, ClientID: "lathe", Audiences: []string{"lathe", "urn:lathe"}, RoleClaim: "groups", Now: clock,
		Roles: map[string]string{"staff": people.Author, "platform": people.Owner}, Scopes: []string{"email", "groups"}})
	r.srv.opts.OIDC.Issuer, r.srv.rights.sights.o.Issuer = made, made

	logIn := func() *browser {
		t.Helper()
		b := &browser{r: r, cookies: map[string]*http.Cookie{}}
		begun, err := b.get(loginOIDC).Location()
		if err != nil {
			t.Fatal(err)
		}
		if begun.Query().Get("code_challenge_method") != "S256" {
			t.Errorf("without PKCE: %s", begun)
		}
		at := p.back(begun.String(), redirect)
		b.get(at.RequestURI(), "Sec-Fetch-Site", "cross-site")
		return b
	}
	page := func(b *browser, path string) int { return b.get(path, "Sec-Fetch-Site", "same-origin").StatusCode }
	at := "/session?directory=" + url.QueryEscape(r.dir)
	ann := logIn()
	p.tell("as olga platform")
	olga := logIn()
	olgas := p.token("lathe", redirect, "")
	p.tell("as ann staff")
	anns, theirs := p.token("lathe", redirect, ""), p.token("other", redirect, "")
	access, other := p.token("lathe", redirect, "urn:lathe"), p.token("lathe", redirect, "urn:other")
	p.tell("as eve guests")
	eve, eves := logIn(), p.token("lathe", redirect, "")
	p.tell("as mallory staff")
	mallory := logIn()
	got := map[string]int{
		"ann's page": page(ann, "/path"), "an owner's route": page(ann, "/pty"), "olga's page": page(olga, "/pty"),
		"without a role": page(eve, "/path"), "an email that is not verified": page(mallory, "/path"),
		"ann's token": r.ask("POST", at, anns, false), "as a password": r.ask("POST", at, anns, true), "an access token": r.ask("POST", at, access, false),
		"olga's token": r.ask("GET", "/pty", olgas, false), "ann's at an owner's route": r.ask("GET", "/pty", anns, false),
		"a token without a role": r.ask("GET", at, eves, false), "for another client": r.ask("GET", at, theirs, false), "for another resource": r.ask("GET", at, other, false),
	}
	want := map[string]int{
		"ann's page": 200, "an owner's route": 403, "olga's page": 200, "without a role": 401, "an email that is not verified": 401,
		"ann's token": 200, "as a password": 200, "an access token": 200, "olga's token": 200, "ann's at an owner's route": 403,
		"a token without a role": 401, "for another client": 401, "for another resource": 401,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.mu.Lock()
	if diff := cmp.Diff(store.Person{Name: "ann@example.com", Role: people.Author}, c.all["ann@example.com"]); diff != "" {
		t.Errorf("who is new (-want +got):\n%s", diff)
	}
	c.mu.Unlock()

	p.tell("as uma staff") // whose token nobody has seen
	unused := p.token("lathe", redirect, "")
	p.tell("keys")
	mu.Lock()
	late = 2 * time.Minute // keys are not asked for again at once
	mu.Unlock()
	if status := r.ask("GET", at, p.token("lathe", redirect, ""), false); status != 200 {
		t.Errorf("a token signed with a new key: %d", status)
	}
	if status := r.ask("GET", at, unused, false); status != 401 {
		t.Errorf("a token signed with a key that is no more: %d", status)
	}
	if status := page(logIn(), "/path"); status != 200 {
		t.Errorf("a page after the keys were changed: %d", status)
	}
	mu.Lock()
	late = 3 * time.Hour
	mu.Unlock()
	if token, login := r.ask("GET", at, anns, false), page(ann, "/path"); token != 401 || login != 200 {
		t.Errorf("after an hour: the token %d, the page %d", token, login)
	}
	mu.Lock()
	late = loginLife
	mu.Unlock()
	if login := page(ann, "/path"); login != 401 {
		t.Errorf("after twelve hours: the page %d", login)
	}
}
