package gate

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"lathe/internal/store"
)

// TestLogins lets a page in by its cookie, and only the page that got it.
func TestLogins(t *testing.T) {
	const loginTime = 30 * 24 * time.Hour
	now := time.Unix(1_700_000_000, 0)
	g := New(Options{User: "opencode", Password: "sesame", Now: func() time.Time { return now }, Public: func(r *http.Request) bool { return r.URL.Path == "/" }})
	request := func(method, path string, cookie *http.Cookie, header ...string) *http.Request {
		r := httptest.NewRequest(method, "http://localhost:4096"+path, nil)
		r.RemoteAddr = "127.0.0.1:5000"
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		if cookie != nil {
			r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
		}
		return r
	}
	n := 0
	logIn := func(password, origin string) (int, *http.Cookie) {
		w := httptest.NewRecorder()
		r := request("POST", "/lathe/login", nil, "Origin", origin)
		status, _, err := g.LogIn(r, "opencode", password)
		if err == nil && status == http.StatusOK {
			err = g.Enter(w, r, store.Login{ID: "login_" + strconv.Itoa(n)}, loginTime, false)
			n++
		}
		if err != nil {
			t.Error(err)
		}
		for _, c := range w.Result().Cookies() {
			return status, c
		}
		return status, nil
	}
	if status, c := logIn("wrong", "http://localhost:4096"); status != 401 || c != nil {
		t.Errorf("a wrong password: %d, %v", status, c)
	}
	_, secure := logIn("sesame", "https://lathe.example.org")
	status, c := logIn("sesame", "http://localhost:4096")
	if status != 200 || c == nil || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Path != "/" || len(c.Value) < 20 {
		t.Fatalf("the right password: %d, %+v", status, c)
	}
	if secure == nil || !secure.Secure {
		t.Errorf("over TLS: %+v", secure)
	}
	const own = "http://localhost:4096"
	admitted := func(r *http.Request) bool {
		_, ok := g.Admit(httptest.NewRecorder(), r)
		return ok
	}
	for name, c := range map[string]struct {
		r    *http.Request
		want bool
	}{
		"a page that reads":             {request("GET", "/session", c, "Sec-Fetch-Site", "same-origin"), true},
		"a page that changes":           {request("POST", "/session", c, "Origin", own), true},
		"a page that opens a terminal":  {request("GET", "/pty/x/connect", c, "Origin", own, "Upgrade", "websocket"), true},
		"the public page":               {request("GET", "/", nil), true},
		"no cookie":                     {request("GET", "/session", nil), false},
		"a made-up cookie":              {request("GET", "/session", &http.Cookie{Name: loginCookie, Value: "AAAA"}), false},
		"a change without an origin":    {request("POST", "/session", c), false},
		"a form of another page":        {request("POST", "/session", c, "Origin", "https://evil.example"), false},
		"another server of the machine": {request("POST", "/session", c, "Origin", "http://localhost:3000"), false},
		"reading from there":            {request("GET", "/session", c, "Origin", "http://localhost:3000"), false},
		"the same site, not the page":   {request("GET", "/session", c, "Sec-Fetch-Site", "same-site"), false},
		"a socket without an origin":    {request("GET", "/pty/x/connect", c, "Upgrade", "websocket"), false},
		"an opaque origin":              {request("POST", "/session", c, "Origin", "null"), false},
	} {
		if got := admitted(c.r); got != c.want {
			t.Errorf("%s: admitted %t", name, got)
		}
	}
	w := httptest.NewRecorder()
	if g.Admit(w, request("GET", "/session", nil, PageHeader, "1")); w.Header().Get("WWW-Authenticate") != "" {
		t.Error("the browser would show its own dialog over the page")
	}
	if err := g.LogOut(httptest.NewRecorder(), request("DELETE", "/lathe/login", c, "Origin", own)); err != nil {
		t.Error(err)
	}
	if admitted(request("GET", "/session", c)) {
		t.Error("a login that has ended still lets in")
	}
	_, c = logIn("sesame", own)
	now = now.Add(loginTime)
	if admitted(request("GET", "/session", c)) {
		t.Error("a login never ends")
	}
	for range 2 * store.MostLogins {
		logIn("sesame", own)
	}
	if kept := g.logins.(*LocalLogins).all(); len(kept) != store.MostLogins {
		t.Errorf("%d logins are kept", len(kept))
	}
	var last int
	for range 50 {
		last, _ = logIn("guess", own)
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("after many guesses: %d", last)
	}
}

// TestLoginWithoutPassword has nothing to ask for.
func TestLoginWithoutPassword(t *testing.T) {
	g := New(Options{Now: time.Now})
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "http://localhost/lathe/login", strings.NewReader("{}"))
	status, _, err := g.LogIn(r, "", "")
	if err == nil {
		err = g.Enter(w, r, store.Login{}, time.Hour, false)
	}
	if in, asked := g.LoggedIn(r); !in || asked || status != 200 || err != nil || len(w.Result().Cookies()) != 0 {
		t.Error("a password is asked for where there is none")
	}
}
