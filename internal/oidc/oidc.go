// Package oidc lets the people of a team come in with what an OpenID Connect issuer says of
// them: a token that it signed, or a login of a browser.
//
// What a token says counts if the issuer signed it with a key of its own, by RS256, ES256 or
// EdDSA and the like, for this server, and if it is not over. The issuer's documents are
// fetched when they are needed first, bounded in size, time and number, and redirects are not
// followed. Nothing of this is used where no issuer is configured.
package oidc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"lathe"
	"lathe/internal/people"
)

// Options say which issuer to believe, and what of it.
type Options struct {
	Issuer string
	// ClientID is what the server is called at the issuer. ClientSecret goes with it where the
	// issuer demands one.
	ClientID, ClientSecret string
	// Audiences are those of tokens that count; none: the ClientID.
	Audiences []string
	// NameClaim names the person: "email" unless it is set. An email counts only if the
	// issuer says that it is verified.
	NameClaim string
	// RoleClaim holds the groups of the person that Roles gives roles. If it is set, who has
	// none of them has no role here, and is refused.
	RoleClaim string
	Roles     map[string]string
	// Scopes are asked for at a login besides "openid"; none: "profile" and "email".
	Scopes []string

	HTTP *http.Client // nil: one of its own
	Now  func() time.Time
}

// Person is whom a token names.
type Person struct {
	Name    string
	Role    string    // "": the one that the person has here
	Expires time.Time // of the token
}

// Issuer checks what one issuer says. It is safe for concurrent use.
type Issuer struct {
	o    Options
	http *http.Client

	mu       sync.Mutex
	provider *oidc.Provider
	failed   error
	again    time.Time // when an issuer that failed is asked again
}

const (
	// leeway is how far the clocks of the issuer and of this machine may differ.
	leeway = time.Minute
	// patience bounds a request to the issuer, and rest is the least time between two of
	// them for the same document, whatever tokens come in.
	patience = 10 * time.Second
	rest     = 5 * time.Second
	maxToken = 16 << 10
)

// algorithms are those that tokens may be signed with: none with a shared secret, and never none.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}

// New returns an issuer, without asking it for anything.
func New(o Options) *Issuer {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.NameClaim = cmp.Or(o.NameClaim, "email")
	if len(o.Audiences) == 0 {
		o.Audiences = []string{o.ClientID}
	}
	if o.Scopes == nil {
		o.Scopes = []string{"profile", "email"}
	}
	transport := http.DefaultTransport
	if o.HTTP != nil && o.HTTP.Transport != nil {
		transport = o.HTTP.Transport
	}
	return &Issuer{o: o, http: &http.Client{
		Transport: &bounded{next: transport, now: o.Now, last: map[string]time.Time{}}, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the issuer redirects, which is not followed")
		},
	}}
}

// IsToken reports whether a text may be a token of an issuer, so that nobody looks at others.
func IsToken(text string) bool {
	return len(text) <= maxToken && strings.HasPrefix(text, "eyJ") && strings.Count(text, ".") == 2
}

// Verify returns whom a token names. The error says why it does not count, or that the issuer
// cannot be asked; it never has the token.
func (i *Issuer) Verify(ctx context.Context, token string) (Person, error) {
	if !IsToken(token) {
		return Person{}, errors.New("this is no token of an issuer")
	}
	return i.verify(ctx, token, "")
}

// verify checks a token, and its nonce where one was given to the issuer.
func (i *Issuer) verify(ctx context.Context, token, nonce string) (Person, error) {
	provider, err := i.discovered(ctx)
	if err != nil {
		return Person{}, err
	}
	verifier := provider.Verifier(&oidc.Config{SupportedSigningAlgs: algorithms, SkipClientIDCheck: true, SkipExpiryCheck: true})
	t, err := verifier.Verify(oidc.ClientContext(ctx, i.http), token)
	if err != nil {
		return Person{}, fmt.Errorf("token of %s: %w", i.o.Issuer, err)
	}
	var claims claims
	if err := t.Claims(&claims); err != nil {
		return Person{}, errors.New("the token's claims cannot be read")
	}
	if err := i.current(t, claims); err != nil {
		return Person{}, err
	}
	if nonce != "" && t.Nonce != nonce {
		return Person{}, errors.New("the token is for another login")
	}
	p, err := i.person(claims)
	p.Expires = t.Expiry.Add(leeway)
	return p, err
}

// current says what is wrong with a token's times and audience.
func (i *Issuer) current(t *oidc.IDToken, c claims) error {
	now := i.o.Now()
	notBefore, set, err := c.time("nbf")
	switch {
	case err != nil:
		return err
	case t.Expiry.Unix() <= 0:
		return errors.New("the token never ends")
	case !now.Before(t.Expiry.Add(leeway)):
		return errors.New("the token is over")
	case set && now.Add(leeway).Before(notBefore), now.Add(leeway).Before(t.IssuedAt):
		return errors.New("the token is not valid yet")
	case !slices.ContainsFunc(t.Audience, func(a string) bool { return a != "" && slices.Contains(i.o.Audiences, a) }):
		return errors.New("the token is for somebody else")
	}
	return nil
}

// person returns whom claims name, with the highest of the roles that they give.
func (i *Issuer) person(c claims) (p Person, err error) {
	p.Name = c.text(i.o.NameClaim)
	switch {
	case !people.IsName(p.Name):
		return p, fmt.Errorf("the claim %q is no name of a person", i.o.NameClaim)
	case i.o.NameClaim == "email" && !c.yes("email_verified"):
		return p, errors.New("the issuer does not say that the email is verified")
	case i.o.RoleClaim == "":
		return p, nil
	}
	for _, group := range c.list(i.o.RoleClaim) {
		if role := i.o.Roles[group]; people.IsRole(role) && (p.Role == "" || people.AtLeast(role, p.Role)) {
			p.Role = role
		}
	}
	if p.Role == "" {
		return p, fmt.Errorf("the claim %q gives %s no role here", i.o.RoleClaim, p.Name)
	}
	return p, nil
}

// discovered returns what the issuer says of itself. One that failed is left alone for a while.
func (i *Issuer) discovered(ctx context.Context) (*oidc.Provider, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.o.Now()
	switch {
	case i.provider != nil:
		return i.provider, nil
	case i.failed != nil && now.Before(i.again):
		return nil, i.failed
	}
	// Its keys are fetched later with the client of this context, so it must not end.
	p, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), i.http), i.o.Issuer)
	if err != nil {
		i.failed, i.again = lathe.Errorf(lathe.CodeUnavailable, "look at \"oidc\": {\"issuer\": …}, and whether this machine reaches it", "the issuer %s: %v", i.o.Issuer, err), now.Add(rest)
		return nil, i.failed
	}
	i.provider, i.failed = p, nil
	return p, nil
}
