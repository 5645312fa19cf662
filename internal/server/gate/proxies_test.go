package gate

import (
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

func believed(t *testing.T, texts ...string) (out []netip.Prefix) {
	t.Helper()
	for _, text := range texts {
		p, err := ParseProxy(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// The address that a proxy tells counts, if it is one that is believed, and only what it added
// itself; everybody else is where the connection comes from.
func TestProxies(t *testing.T) {
	g := New(Options{Proxies: believed(t, "127.0.0.1", "10.0.0.0/8", "2001:db8::/32"), Now: time.Now})
	for _, tt := range []struct {
		from string
		told []string
		want string
	}{
		{"127.0.0.1:5", []string{"192.0.2.1"}, "192.0.2.1:0"},
		{"127.0.0.1:5", []string{"198.51.100.9, 192.0.2.1"}, "192.0.2.1:0"}, // the first is the client's own
		{"127.0.0.1:5", []string{"198.51.100.9", "192.0.2.1, 10.1.2.3"}, "192.0.2.1:0"},
		{"[2001:db8::7]:5", []string{"2001:db9::1"}, "[2001:db9::1]:0"},
		{"[::ffff:10.0.0.1]:5", []string{"::ffff:192.0.2.1"}, "192.0.2.1:0"},
		{"10.0.0.1:5", []string{"10.0.0.2"}, "10.0.0.2:0"}, // a client in the same network
		{"127.0.0.1:5", nil, "127.0.0.1:5"},
		{"127.0.0.1:5", []string{"nobody"}, "127.0.0.1:5"},
		{"127.0.0.1:5", []string{"192.0.2.1, unknown"}, "127.0.0.1:5"},
		{"192.0.2.7:5", []string{"192.0.2.1"}, "192.0.2.7:5"},
		{"@", []string{"192.0.2.1"}, "@"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.from
		for _, v := range tt.told {
			r.Header.Add("X-Forwarded-For", v)
		}
		if got := g.Passed(r).RemoteAddr; got != tt.want {
			t.Errorf("%s with %q: %s, want %s", tt.from, tt.told, got, tt.want)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "127.0.0.1:5"
	r.Header.Set("X-Forwarded-For", "192.0.2.1")
	if got := New(Options{Now: time.Now}).Passed(r).RemoteAddr; got != r.RemoteAddr {
		t.Errorf("no proxy is believed, but %s is", got)
	}
	for _, wrong := range []string{"", "proxy", "10.0.0.0/99", "10.0.0.1:80"} {
		if _, err := ParseProxy(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// Behind a proxy, who guesses too often is not everybody.
func TestGuessesBehindAProxy(t *testing.T) {
	now := time.Now()
	g := New(Options{User: "opencode", Password: "sesame", Proxies: believed(t, "127.0.0.1"), Now: func() time.Time { return now }})
	try := func(from, password string) int {
		r := httptest.NewRequest("GET", "http://localhost/session", nil)
		r.RemoteAddr = "127.0.0.1:5"
		r.Header.Set("X-Forwarded-For", from)
		r.SetBasicAuth("opencode", password)
		w := httptest.NewRecorder()
		if _, ok := g.Admit(w, g.Passed(r)); ok {
			return 200
		}
		return w.Code
	}
	for range guessBurst {
		try("192.0.2.1", "wrong")
	}
	if got := []int{try("192.0.2.1", "sesame"), try("192.0.2.2", "sesame")}; got[0] != 429 || got[1] != 200 {
		t.Errorf("who guessed, and another one: %v", got)
	}
}
