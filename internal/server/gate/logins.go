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
	by map[[sha256.Size]byte]time.Time // when they end, by the hash of the cookie
}

// add returns the cookie of a new login.
func (l *logins) add() string {
	token := rand.Text()
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[[sha256.Size]byte]time.Time{}
	}
	for len(l.by) >= mostLogins {
		l.dropOldest()
	}
	l.by[sha256.Sum256([]byte(token))] = now.Add(loginTime)
	return token
}

func (l *logins) dropOldest() {
	var oldest [sha256.Size]byte
	var ends time.Time
	for sum, at := range l.by {
		if ends.IsZero() || at.Before(ends) {
			oldest, ends = sum, at
		}
	}
	delete(l.by, oldest)
}

// holds reports whether a cookie is one of a login that has not ended. Looking up its
// hash tells nothing of how much of a guess was right.
func (l *logins) holds(token string) bool {
	sum := sha256.Sum256([]byte(token))
	l.mu.Lock()
	defer l.mu.Unlock()
	ends, ok := l.by[sum]
	return ok && l.now().Before(ends)
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
	switch ok, wait := g.guesses.try(r.RemoteAddr, func() bool { return g.right(user + ":" + password) }); {
	case wait:
		return http.StatusTooManyRequests
	case !ok:
		return http.StatusUnauthorized
	}
	http.SetCookie(w, g.cookie(r, g.logins.add(), loginTime))
	return http.StatusOK
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
	return g.carries(r) || g.authorized(r), true
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
	return g.logins.holds(c.Value)
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
