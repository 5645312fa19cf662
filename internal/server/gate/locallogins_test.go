package gate

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/people"
	"lathe/internal/store"
)

// with returns a gate that a page logs in to.
func with(logins Logins, password string, now func() time.Time, change ...func(*Options)) *Gate {
	o := Options{User: "opencode", Password: password, Now: now, Logins: logins}
	for _, f := range change {
		f(&o)
	}
	return New(o)
}

// enter logs a page in, and returns its cookie.
func enter(t *testing.T, g *Gate, l store.Login) *http.Cookie {
	t.Helper()
	w := httptest.NewRecorder()
	if err := g.Enter(w, httptest.NewRequest("POST", "http://localhost/lathe/login", nil), l, time.Hour, false); err != nil {
		t.Fatal(err)
	}
	return w.Result().Cookies()[0]
}

// status is that of what a page reads.
func status(g *Gate, c *http.Cookie, header ...string) (int, Caller) {
	r := httptest.NewRequest("GET", "http://localhost/session", nil)
	r.RemoteAddr = "127.0.0.1:5000"
	if c != nil {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	who, ok := g.Admit(w, r)
	if ok {
		return http.StatusOK, who
	}
	return w.Code, who
}

// A login outlasts the server, until the password is another one or it is ended; what is kept of
// it holds neither the cookie nor the password, and lets nobody in.
func TestLoginsOutlastTheServer(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	clock := func() time.Time { return now }
	path := filepath.Join(t.TempDir(), "data", "page-logins.json")
	local := func() Logins { return &LocalLogins{Path: path, Now: clock, Log: slog.New(slog.DiscardHandler)} }
	first := with(local(), "sesame", clock)
	c, other := enter(t, first, store.Login{ID: "login_1"}), enter(t, first, store.Login{ID: "login_2"})
	again := with(local(), "sesame", clock)
	for name, tt := range map[string]struct {
		g    *Gate
		c    *http.Cookie
		want int
	}{
		"the same server": {first, c, 200}, "started again": {again, c, 200}, "with another password": {with(local(), "open", clock), c, 401},
		"with tokens alone":           {with(local(), "", clock, func(o *Options) { o.Known = func(context.Context, []byte) error { return store.ErrNotFound } }), c, 401},
		"the cookie of another login": {again, &http.Cookie{Name: c.Name, Value: strings.Repeat("A", cookieLength)}, 401},
	} {
		if got, _ := status(tt.g, tt.c); got != tt.want {
			t.Errorf("%s: %d", name, got)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, secret := range []string{c.Value, "sesame", fmt.Sprintf("%x", first.wanted)} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q is kept:\n%s", secret, text)
		}
	}
	out := httptest.NewRequest("DELETE", "http://localhost/lathe/login", nil)
	out.Header.Set("Origin", "http://localhost")
	out.AddCookie(c)
	if err := again.LogOut(httptest.NewRecorder(), out); err != nil {
		t.Error(err)
	}
	now = now.Add(Fresh)
	for name, g := range map[string]*Gate{"where it was ended": again, "elsewhere": first} {
		if got, _ := status(g, c); got != 401 {
			t.Errorf("%s: %d", name, got)
		}
		if got, _ := status(g, other); got != 200 {
			t.Errorf("another login, %s: %d", name, got)
		}
	}
}

// Where the file cannot be written, a login lasts as long as the server.
func TestLoginsWithoutTheirFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page-logins.json")
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := with(&LocalLogins{Path: path, Now: time.Now, Log: slog.New(slog.DiscardHandler)}, "sesame", time.Now)
	if got, _ := status(g, enter(t, g, store.Login{ID: "login_1"})); got != 200 {
		t.Errorf("%d", got)
	}
}

// database answers for a database that is there at times.
type database struct {
	Logins
	err error
}

func (d *database) Login(ctx context.Context, hash []byte) (store.Login, error) {
	if d.err != nil {
		return store.Login{}, d.err
	}
	return d.Logins.Login(ctx, hash)
}

// While the database is away, what was known counts; who is not known is told to come again, not
// to log in, and the server's own password goes on to open.
func TestLoginsWhileTheDatabaseIsAway(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	clock := func() time.Time { return now }
	db := &database{Logins: &LocalLogins{Now: clock}}
	known := func(o *Options) { o.Known = func(context.Context, []byte) error { return db.err } }
	g, moved := with(db, "sesame", clock, known), with(db, "sesame", clock, known)
	c := enter(t, g, store.Login{ID: "login_1"})
	token, _, _ := people.NewToken()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("opencode:sesame"))
	look := func() (got [5]int) {
		got[0], _ = status(g, c)
		got[1], _ = status(moved, c)
		got[2], _ = status(g, nil, "Authorization", "Bearer "+token)
		got[3], _ = status(moved, c, "Authorization", basic)
		got[4], _ = status(g, nil)
		return got
	}
	if status, _ := status(g, c); status != 200 {
		t.Errorf("at first: %d", status)
	}
	now, db.err = now.Add(Fresh), fmt.Errorf("no route: %w", store.ErrAway)
	if got, want := look(), [5]int{200, 503, 503, 200, 401}; got != want {
		t.Errorf("away: %d, want %d", got, want)
	}
	now = now.Add(Stale)
	if got, want := look(), [5]int{503, 503, 503, 200, 401}; got != want {
		t.Errorf("away for long: %d, want %d", got, want)
	}
	db.err = nil
	if got, want := look(), [5]int{200, 200, 200, 200, 401}; got != want {
		t.Errorf("there again: %d, want %d", got, want)
	}
	db.err = errors.New("broken")
	if status, _, err := g.LogIn(httptest.NewRequest("POST", "http://localhost/lathe/login", nil), "", token); err == nil {
		t.Errorf("a token that nobody can judge: %d", status)
	}
}
