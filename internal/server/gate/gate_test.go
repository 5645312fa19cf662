package gate

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What --cors may name is one origin, written as browsers write it.
func TestCheckOrigin(t *testing.T) {
	for origin, ok := range map[string]bool{
		"https://a.example": true, "http://a.example:8080": true, "*": false, "https://*.example": false, "a.example": false,
		"https://a.example/": false, "https://A.example": false, "null": false, "": false,
	} {
		if err := CheckOrigin(origin); (err == nil) != ok {
			t.Errorf("origin %q: %v", origin, err)
		}
	}
}

// FuzzGate compares the gate with what must hold whatever the headers are: a
// web origin comes in only if it is ours, local, or the app's.
func FuzzGate(f *testing.F) {
	for _, s := range [][2]string{
		{"localhost", "http://localhost:3000"}, {"127.0.0.1:4096", "http://127.0.0.1:4096"}, {"evil", "http://evil"}, {"localhost", "http://localhost@evil"},
		{"[::1]", "null"}, {"LOCALHOST.", "https://opencode.ai"}, {"a.localhost", "tauri://localhost"},
	} {
		f.Add(s[0], s[1])
	}
	g := New(Options{Now: time.Now})
	f.Fuzz(func(t *testing.T, host, origin string) {
		req := httptest.NewRequest("GET", "/path", nil)
		req.Host = host
		req.Header["Origin"] = []string{origin}
		if _, no := g.check(req); no != nil {
			return
		}
		name := hostname(host)
		if strings.ContainsAny(host, "@/\\? #") {
			t.Errorf("host %q came in", host)
		}
		u, err := url.Parse(origin)
		if err != nil {
			t.Fatalf("origin %q came in", origin)
		}
		switch o := strings.ToLower(u.Hostname()); {
		case o == "localhost", o == "127.0.0.1", o == "tauri.localhost", o == strings.TrimSuffix(name, "."), strings.TrimSuffix(o, ".") == name:
		default:
			t.Errorf("origin %q came in to host %q", origin, host)
		}
	})
}
