package gate

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lathe/internal/store"
)

const loginCookie = "lathe_login"

// Logins keep the logins of pages: a [store.Logins], or [LocalLogins].
type Logins interface {
	AddLogin(ctx context.Context, l store.Login, hash []byte) error
	Login(ctx context.Context, hash []byte) (store.Login, error)
	EndLogin(ctx context.Context, id string) error
}

// cookieLength is that of what [rand.Text] returns.
const cookieLength = 26

// proof is what the password and a cookie make together. Where it is kept, it helps nobody to
// guess the password who has not the cookie, and a changed password ends the login.
func (g *Gate) proof(cookie string) []byte {
	mac := hmac.New(sha256.New, []byte(cookie))
	mac.Write(g.wanted[:])
	return mac.Sum(nil)
}

// LogIn compares a password as [Gate.Admit] does, with the same limit for guesses. It returns
// the status to answer with: 200, 401, or 429 for who guesses too often, and the hash of the
// token if that was one. The page is not let in before [Gate.Enter].
func (g *Gate) LogIn(r *http.Request, user, password string) (status int, token []byte, err error) {
	if !g.password {
		return http.StatusOK, nil, nil
	}
	token, err = g.valid(r, password)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return 0, nil, err
	}
	known := err == nil
	switch ok, wait := g.guesses.try(r.RemoteAddr, func() bool { return known || g.right(user+":"+password) }); {
	case ok:
		return http.StatusOK, token, nil
	case wait:
		status = http.StatusTooManyRequests
	default:
		status = http.StatusUnauthorized
	}
	g.failed(r, user)
	return status, nil, nil
}

// Enter gives the page the cookie of a login that only this server, those that share its store,
// and no script can read. One of nobody, without a token, is with the server's own password. Over
// TLS, which a proxy may end, the cookie is sent over TLS only.
func (g *Gate) Enter(w http.ResponseWriter, r *http.Request, l store.Login, life time.Duration, tls bool) error {
	if !g.password {
		return nil
	}
	cookie := rand.Text()
	if l.Person == "" {
		l.Proof = g.proof(cookie)
	}
	l.Expires = g.now().Add(life)
	if err := g.logins.AddLogin(r.Context(), l, hashOf(cookie)); err != nil {
		return err
	}
	c := g.cookie(r, cookie, life)
	c.Secure = c.Secure || tls
	http.SetCookie(w, c)
	return nil
}

// LogOut ends the login of the page that asks.
func (g *Gate) LogOut(w http.ResponseWriter, r *http.Request) error {
	l, err := g.Login(r)
	if err == nil {
		err = g.logins.EndLogin(r.Context(), l.ID)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if c, err := r.Cookie(loginCookie); err == nil {
		g.seen.Forget(hashOf(c.Value))
	}
	http.SetCookie(w, g.cookie(r, "", -time.Second))
	return nil
}

// LoggedIn reports whether a request needs no (further) password, and whether the
// server asks for one at all.
func (g *Gate) LoggedIn(r *http.Request) (in, asked bool) {
	if !g.password {
		return true, false
	}
	if _, err := g.byCookie(r); err == nil {
		return true, true
	}
	_, err := g.token(r)
	return err == nil || g.authorized(r), true
}

// cookie is for this server alone. Behind a proxy with TLS, which the page's own
// address tells, it is sent over TLS only.
func (g *Gate) cookie(r *http.Request, value string, life time.Duration) *http.Cookie {
	origin, err := url.Parse(r.Header.Get("Origin"))
	return &http.Cookie{
		Name: loginCookie, Value: value, Path: "/", MaxAge: int(life / time.Second), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: err == nil && origin.Scheme == "https",
	}
}

// Login returns the login that a request has the cookie of, if it comes from the page that got
// it. A cookie goes along with whatever a browser sends to this machine, from the pages of its
// other servers too: so what changes something, and what opens a connection, must name this
// server as its origin. The error is [store.ErrNotFound] if there is none that counts.
func (g *Gate) Login(r *http.Request) (l store.Login, err error) {
	c, err := r.Cookie(loginCookie)
	if err != nil || len(c.Value) != cookieLength || !g.ownPage(r) {
		return l, store.ErrNotFound
	}
	// Looking up its hash tells nothing of how much of a guess was right.
	hash := hashOf(c.Value)
	l, err = g.seen.Of(hash, func() (store.Login, error) { return g.logins.Login(r.Context(), hash) })
	if err != nil {
		return store.Login{}, err
	}
	good := g.now().Before(l.Expires)
	if l.Person == "" {
		good = good && g.wanted != [sha256.Size]byte{} && hmac.Equal(l.Proof, g.proof(c.Value))
	}
	if !good {
		return store.Login{}, store.ErrNotFound
	}
	return l, nil
}

func hashOf(cookie string) []byte {
	sum := sha256.Sum256([]byte(cookie))
	return sum[:]
}

// byCookie returns whom a request comes from that has the cookie of a login. That of a person
// counts as long as the token that was shown does, or the person is there.
func (g *Gate) byCookie(r *http.Request) (c Caller, err error) {
	l, err := g.Login(r)
	switch {
	case err != nil:
		return c, err
	case l.Person == "":
		return Caller{Own: true}, nil
	case l.Token == nil && g.person != nil:
		return Caller{Login: &l}, g.person(r.Context(), l)
	case l.Token != nil && g.known != nil:
		return Caller{Token: l.Token}, g.known(r.Context(), l.Token)
	}
	return c, store.ErrNotFound
}

func (g *Gate) ownPage(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		return sameOrigin(origin, r)
	}
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	return safe && !strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}
