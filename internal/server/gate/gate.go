// Package gate says who may call the server: on which addresses it listens, which
// hosts, web origins, users and processes come in, how fast a password can be guessed,
// and how many connections and half-sent bodies there may be at once.
//
// A request passes the Host and Origin checks, then the password, then the look at
// who made its connection ([Gate.Admit]). Listeners come from [Listen] and
// [ListenSocket], which refuse what would be open to others.
package gate

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe/internal/netguard"
	"lathe/internal/store"
)

// PageHeader marks the requests of lathe's web page.
const PageHeader = "X-Lathe-Page"

// Options say who may call.
type Options struct {
	// Password, if set, is required with every request. User is the name that
	// goes with it.
	User, Password string
	// Hosts are names under which requests may address the server, besides this
	// machine's loopback names and the address that a connection came to.
	Hosts []string
	// Origins are web origins that may call, besides (with a password) those of
	// this machine.
	Origins []string
	// Trusted says that the transport itself authenticates callers (a private
	// unix socket, a call within the process): no Host check or password is
	// needed.
	Trusted bool
	// Commands, when set, are those whose processes may not call.
	Commands Commands
	// Known, when set, says why nobody may call who shows a token with this hash
	// ([people.Hash]): as a bearer's, or in the place of the password. The error is
	// [store.ErrAway] if it cannot be found out.
	Known func(ctx context.Context, hash []byte) error
	// Issued, when set, returns the hash of a token that an issuer made, if it counts; Known is
	// asked about it from then on.
	Issued func(ctx context.Context, token string) (hash []byte, err error)
	// Person, when set, says why nobody may call with the login of a page that came in through an
	// issuer, as Known does.
	Person func(ctx context.Context, l store.Login) error
	// Logins keep those of pages; nil: this process does, in memory.
	Logins Logins
	// Landing, when set, says which requests pages of other sites may send a browser to.
	Landing func(r *http.Request) bool
	// Public, when set, says which requests need no password: the web page itself, and
	// its way to log in. Everything else is checked for them too.
	Public func(r *http.Request) bool
	// Failed, when set, is told of requests with wrong credentials, and of the name that came with
	// them, which may be anything.
	Failed func(r *http.Request, name string)
	// Proxies are believed when they say whom they pass on; see [Gate.Passed].
	Proxies []netip.Prefix
	Now     func() time.Time
}

// Gate decides whether a request may come in at all, before anything of it is
// looked at: a page on the web must not drive lathe through the user's browser. It
// is safe for concurrent use.
type Gate struct {
	trusted  bool
	hosts    []string
	origins  []string
	password bool
	wanted   [sha256.Size]byte // of "user:password"
	guesses  guesses
	logins   Logins
	seen     Beliefs[store.Login] // by the hash of the cookie
	now      func() time.Time
	public   func(r *http.Request) bool
	known    func(ctx context.Context, hash []byte) error
	issued   func(ctx context.Context, token string) (hash []byte, err error)
	person   func(ctx context.Context, l store.Login) error
	landing  func(r *http.Request) bool
	commands Commands
	failed   func(r *http.Request, name string)
	proxies  []netip.Prefix
	open     bool // no password is asked for on any transport
}

// New returns a gate.
func New(o Options) *Gate {
	g := &Gate{
		trusted: o.Trusted, hosts: []string{"localhost"}, origins: o.Origins, password: (o.Password != "" || o.Known != nil) && !o.Trusted,
		commands: o.Commands, open: o.Password == "" && o.Known == nil, public: o.Public, known: o.Known, issued: o.Issued, person: o.Person,
		landing: o.Landing, logins: o.Logins, now: o.Now, failed: o.Failed, proxies: o.Proxies,
	}
	if g.failed == nil {
		g.failed = func(*http.Request, string) {}
	}
	if g.logins == nil {
		g.logins = &LocalLogins{Now: o.Now} // which has nothing to log
	}
	for _, h := range o.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	if o.Password != "" {
		g.wanted = sha256.Sum256([]byte(o.User + ":" + o.Password))
	}
	g.guesses.now, g.seen.Now = o.Now, o.Now
	return g
}

// Admit lets a request in, and says whom it comes from if a password is asked for. It reports
// false when it has answered the request itself: with a refusal, or a browser's question whether
// it may ask.
func (g *Gate) Admit(w http.ResponseWriter, r *http.Request) (Caller, bool) {
	g.cors(w, r)
	if g.addressed(r) && g.preflight(w, r) {
		return Caller{}, false
	}
	who, no := g.check(r)
	if no == nil {
		no = g.checkCaller(r)
	}
	if no == nil {
		return who, true
	}
	// A browser would show a dialog of its own over the page that asks with its script.
	if no.status == http.StatusUnauthorized && r.Header.Get(PageHeader) == "" {
		w.Header().Set("WWW-Authenticate", `Basic realm="Secure Area"`)
	}
	if no.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(no.wait))
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(no.status)
	_, _ = w.Write([]byte(no.text))
	return Caller{}, false
}

// refusal is why a request may not come in.
type refusal struct {
	status int
	text   string
	wait   int // seconds after which to try again; 0: it says nothing of that
}

// check judges a request by its headers.
func (g *Gate) check(r *http.Request) (Caller, *refusal) {
	if !g.addressed(r) {
		return Caller{}, &refusal{status: http.StatusForbidden, text: "this server does not answer to the host name of the request; lathe serve --host allows it"}
	}
	if !(g.landing != nil && g.landing(r)) && !g.originAllowed(r) {
		return Caller{}, &refusal{status: http.StatusForbidden, text: "requests from this web origin are not allowed; lathe serve --cors allows it"}
	}
	if !g.password || g.public != nil && g.public(r) {
		return Caller{}, nil
	}
	who, err := g.byCookie(r)
	switch {
	case err == nil:
		return who, nil
	case errors.Is(err, store.ErrAway) && !shows(r):
		return Caller{}, away
	}
	return g.authenticate(r)
}

// away is for who may well have the right to come in.
var away = &refusal{http.StatusServiceUnavailable, "the database with the people and logins cannot be reached; try again in a moment", guessPause}

// authenticate checks the password. A client that guesses too often is not even told
// whether a guess was right; see [guesses].
func (g *Gate) authenticate(r *http.Request) (Caller, *refusal) {
	unauthorized := &refusal{status: http.StatusUnauthorized, text: "Unauthorized"}
	if !shows(r) {
		return Caller{}, unauthorized
	}
	token, err := g.token(r) // before, since it may ask a database
	if errors.Is(err, store.ErrAway) {
		return Caller{}, away
	}
	switch ok, wait := g.guesses.try(r.RemoteAddr, func() bool { return err == nil || g.authorized(r) }); {
	case ok:
		return Caller{Own: err != nil, Token: token}, nil
	case wait:
		unauthorized = &refusal{http.StatusTooManyRequests, "too many wrong passwords; try again in a moment", guessPause}
	}
	given, _ := credentials(r)
	name, _, _ := strings.Cut(given, ":")
	g.failed(r, name)
	return Caller{}, unauthorized
}

// addressed reports whether the request was meant for us. Browsers do not reach
// unix sockets, so any name will do there.
func (g *Gate) addressed(r *http.Request) bool {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return g.trusted || (addr != nil && addr.Network() == "unix") || g.hostAllowed(r.Host, addr)
}

// hostAllowed reports whether the Host header names us. A DNS name that was
// rebound to this machine names somebody else. Of addresses it may be the one that
// the connection came to, or a loopback one, which nobody else can have; 0.0.0.0
// and foreign ones are what a page or a proxy that was led astray would name.
func (g *Gate) hostAllowed(host string, came net.Addr) bool {
	name := hostname(host)
	if name == "" {
		return false
	}
	if slices.Contains(g.hosts, name) || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	tcp, ok := came.(*net.TCPAddr)
	ip = ip.Unmap().WithZone("")
	return ip.IsLoopback() || ok && ip == tcp.AddrPort().Addr().Unmap().WithZone("")
}

// hostname returns the name of a host with or without a port, in lower case and
// without brackets and the final dot; empty if it is malformed.
func hostname(host string) string {
	u, err := url.Parse("http://" + host)
	if err != nil || u.Host != host || u.User != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// originAllowed reports whether the request is not a web page's, or is one of a
// page that may call. Browsers send Sec-Fetch-Site where they leave Origin out.
func (g *Gate) originAllowed(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	switch len(origins) {
	case 0:
		site := r.Header.Get("Sec-Fetch-Site")
		return site == "" || site == "same-origin" || site == "none"
	case 1:
		return g.webOrigin(origins[0]) || sameOrigin(origins[0], r)
	}
	return false
}

func sameOrigin(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) && (u.Scheme == "http" || u.Scheme == "https")
}

// webOrigin reports whether pages of an origin may call and read the answers:
// those that --cors names and, where a password protects the server, pages of this
// machine, OpenCode's hosted pages and its desktop program. Without a password any
// page that some program of this machine serves would drive the server.
func (g *Gate) webOrigin(origin string) bool {
	if slices.Contains(g.origins, origin) {
		return true
	}
	if !g.password {
		return false
	}
	if origin == "tauri://localhost" || origin == "http://tauri.localhost" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin {
		return false
	}
	switch name := strings.ToLower(u.Hostname()); u.Scheme {
	case "http":
		return name == "localhost" || name == "127.0.0.1"
	case "https":
		return (name == "opencode.ai" || strings.HasSuffix(name, ".opencode.ai")) && u.Port() == ""
	}
	return false
}

// authorized reports whether a request has the right credentials.
func (g *Gate) authorized(r *http.Request) bool {
	given, ok := credentials(r)
	return g.right(given) && ok
}

// right compares "user:password" in constant time.
func (g *Gate) right(given string) bool {
	sum := sha256.Sum256([]byte(given))
	return g.wanted != [sha256.Size]byte{} && subtle.ConstantTimeCompare(sum[:], g.wanted[:]) == 1
}

// credentials returns "user:password" from the Authorization header or, for
// clients that cannot set headers, from the query.
func credentials(r *http.Request) (string, bool) {
	if user, pass, ok := r.BasicAuth(); ok {
		return user + ":" + pass, true
	}
	token := r.URL.Query().Get("auth_token")
	if token == "" || r.Header.Get("Authorization") != "" {
		return "", false
	}
	token = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(token), "=")
	raw, err := base64.RawStdEncoding.DecodeString(token)
	return string(raw), err == nil
}

// cors adds the headers that let an allowed page read the answer. They come on
// refusals too, so that a page can see that a password is needed.
func (g *Gate) cors(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" || !g.webOrigin(origin) {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Link, X-Next-Cursor, X-Request-Id, X-Lathe-Event")
}

// preflight answers a browser's question whether it may send a request. It
// carries no credentials, so none are asked for.
func (g *Gate) preflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h := w.Header()
	if g.webOrigin(r.Header.Get("Origin")) {
		h.Set("Access-Control-Allow-Methods", "GET,HEAD,PUT,POST,DELETE,PATCH")
		if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
			h.Set("Access-Control-Allow-Headers", asked)
			h.Add("Vary", "Access-Control-Request-Headers")
		}
		h.Set("Access-Control-Max-Age", "86400")
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

// Loopback reports whether an address to listen on is only reachable from this
// machine.
func Loopback(host string) bool { return netguard.Loopback(host) }

// CheckOrigin reports what is wrong with a web origin that may call, as
// [Options].Origins has it.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	switch {
	case strings.Contains(origin, "*"):
		return errors.New("any web page could control the server")
	case err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != origin || strings.ToLower(origin) != origin:
		return errors.New("this is not a web origin")
	}
	return nil
}
