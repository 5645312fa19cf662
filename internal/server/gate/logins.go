package gate

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	loginCookie = "lathe_login"
	loginTime   = 30 * 24 * time.Hour // after which a page has to log in again
	mostLogins  = 256                 // the oldest gives way
)

// logins are the web pages that came in with the password and carry a cookie since.
// They are kept in memory only: when the server starts again, so do they.
type logins struct {
	now func() time.Time

	mu sync.Mutex
	by map[[sha256.Size]byte]login // by the hash of the cookie
}

// login is one of a page.
type login struct {
	ends  time.Time
	token []byte // hash of the token that was shown; nil: it was the server's own password
}

// add returns the cookie of a new login with a token, or nil for the password.
func (l *logins) add(shown []byte) string {
	token := rand.Text()
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[[sha256.Size]byte]login{}
	}
	for len(l.by) >= mostLogins {
		l.dropOldest()
	}
	l.by[sha256.Sum256([]byte(token))] = login{now.Add(loginTime), shown}
	return token
}

func (l *logins) dropOldest() {
	var oldest [sha256.Size]byte
	var ends time.Time
	for sum, in := range l.by {
		if ends.IsZero() || in.ends.Before(ends) {
			oldest, ends = sum, in.ends
		}
	}
	delete(l.by, oldest)
}

// token reports whether a cookie is one of a login that has not ended, and returns the hash
// of the token that was shown then. Looking up its hash tells nothing of how much of a guess
// was right.
func (l *logins) token(cookie string) (hash []byte, ok bool) {
	sum := sha256.Sum256([]byte(cookie))
	l.mu.Lock()
	defer l.mu.Unlock()
	in, ok := l.by[sum]
	return in.token, ok && l.now().Before(in.ends)
}

func (l *logins) remove(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.by, sha256.Sum256([]byte(token)))
}

// LogIn compares a password as [Gate.Admit] does, with the same limit for guesses, and
// gives the page a cookie that only this server and no script can read. It returns the
// status to answer with: 200, 401, or 429 for who guesses too often.
func (g *Gate) LogIn(w http.ResponseWriter, r *http.Request, user, password string) int {
	if !g.password {
		return http.StatusOK
	}
	hash, known := g.valid(r, password)
	if !known {
		hash = nil
	}
	switch ok, wait := g.guesses.try(r.RemoteAddr, func() bool { return known || g.right(user+":"+password) }); {
	case wait:
		return http.StatusTooManyRequests
	case !ok:
		return http.StatusUnauthorized
	}
	http.SetCookie(w, g.cookie(r, g.logins.add(hash), loginTime))
	return http.StatusOK
}

// Enter gives the page the cookie of a login with a token that counts, whose hash it is. Over
// TLS, which a proxy may end, the cookie is sent over TLS only.
func (g *Gate) Enter(w http.ResponseWriter, r *http.Request, hash []byte, tls bool) {
	c := g.cookie(r, g.logins.add(hash), loginTime)
	c.Secure = c.Secure || tls
	http.SetCookie(w, c)
}

// LogOut ends the login of the page that asks.
func (g *Gate) LogOut(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(loginCookie); err == nil {
		g.logins.remove(c.Value)
	}
	http.SetCookie(w, g.cookie(r, "", -time.Second))
}

// LoggedIn reports whether a request needs no (further) password, and whether the
// server asks for one at all.
func (g *Gate) LoggedIn(r *http.Request) (in, asked bool) {
	if !g.password {
		return true, false
	}
	_, known := g.token(r)
	return known || g.carries(r) || g.authorized(r), true
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

// carries reports whether a request has the cookie of a login and comes from the page
// that got it. A cookie goes along with whatever a browser sends to this machine, from
// the pages of its other servers too: so what changes something, and what opens a
// connection, must name this server as its origin.
func (g *Gate) carries(r *http.Request) bool {
	c, err := r.Cookie(loginCookie)
	if err != nil || !g.ownPage(r) {
		return false
	}
	hash, ok := g.logins.token(c.Value)
	return ok && (hash == nil || g.known(r.Context(), hash)) // a token may be revoked since
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
