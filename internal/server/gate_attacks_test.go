package server

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/server/gate"
)

// Attacks on agents' servers that were published, and their kin. None may get
// through.
func TestAttacks(t *testing.T) {
	r := newRig(t)
	outside := filepath.Join(filepath.Dir(r.dir), "outside")
	if err := os.Symlink(outside, filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	sess := r.session()
	for _, tt := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
	}{
		{"CVE-2026-22812: page on the web runs a command", "POST", sess + "/shell", `{"agent":"build","command":"id"}`, []string{"Origin", "https://evil.example"}, 403},
		{"page on the web opens a terminal", "POST", "/pty", `{}`, []string{"Origin", "http://evil.example:4096"}, 403},
		{"page on the web reads a file", "GET", "/file/content?path=a.txt", "", []string{"Origin", "null"}, 403},
		{"DNS rebinding", "GET", "/file/content?path=a.txt", "", []string{"Host", "evil.example"}, 403},
		{"DNS rebinding with our port", "POST", "/session", "", []string{"Host", "evil.example:4096"}, 403},
		{"rebinding with a name that ends like ours", "GET", "/path", "", []string{"Host", "localhost.evil.example"}, 403},
		{"rebinding with a user part", "GET", "/path", "", []string{"Host", "localhost@evil.example"}, 403},
		{"cross-site image without Origin", "GET", "/event", "", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"deep link from another site", "GET", "/session", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 403},
		{"origin that only looks local", "GET", "/path", "", []string{"Origin", "http://localhost.evil.example"}, 403},
		{"origin with a local prefix", "GET", "/path", "", []string{"Origin", "http://127.0.0.1.evil.example"}, 403},
		{"hosted page without a password", "GET", "/path", "", []string{"Origin", "https://opencode.ai"}, 403},
		{"origin with a path", "GET", "/path", "", []string{"Origin", "http://localhost/x"}, 403},
		{"CVE-2025-52882: WebSocket from a page", "GET", "/pty/pty_1/connect", "", []string{"Origin", "https://evil.example"}, 403},
		{"simple request with JSON inside", "POST", "/session", `{"title":"x"}`, []string{"Content-Type", "text/plain"}, 400},
		{"form post", "POST", "/session", `title=x`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 400},
		{"traversal", "GET", "/file/content?path=../outside/secret.txt", "", nil, 403},
		{"traversal, encoded", "GET", "/file/content?path=..%2foutside%2fsecret.txt", "", nil, 403},
		{"absolute path", "GET", "/file/content?path=/etc/passwd", "", nil, 403},
		{"through a link", "GET", "/file/content?path=link/secret.txt", "", nil, 403},
		{"listing through a link", "GET", "/file?path=link", "", nil, 403},
		{"proc", "GET", "/file/content?path=/proc/self/environ", "", nil, 403},
		{"NUL in a path", "GET", "/file/content?path=a.txt%00.png", "", nil, 400},
		{"relative directory", "GET", "/path?directory=../x", "", nil, 400},
		{"directory that is not there", "GET", "/path?directory=/no/such/place", "", nil, 400},
		{"forged engine event", "POST", "/tui/publish", `{"type":"permission.replied","properties":{}}`, nil, 400},
		{"unknown session in a path trick", "GET", "/session/ses_%2e%2e%2f", "", nil, 400},
		{"same origin is fine", "GET", "/path", "", []string{"Origin", r.url}, 200},
		{"page of a program of this machine", "POST", "/pty", `{}`, []string{"Origin", "http://localhost:3000"}, 403},
		{"page of this machine by its address", "GET", "/path", "", []string{"Origin", "http://127.0.0.1:5173"}, 403},
		{"page that passes for a desktop program", "GET", "/path", "", []string{"Origin", "http://tauri.localhost"}, 403},
		{"nobody's address as the host", "GET", "/path", "", []string{"Host", "0.0.0.0:4096"}, 403},
		{"a private address as the host", "GET", "/path", "", []string{"Host", "192.168.1.7:4096"}, 403},
		{"a foreign address as the host", "GET", "/path", "", []string{"Host", "93.184.216.34"}, 403},
		{"a foreign IPv6 address as the host", "GET", "/path", "", []string{"Host", "[2606:2800::1]:4096"}, 403},
		{"address typed by hand is fine", "GET", "/path", "", []string{"Sec-Fetch-Site", "none"}, 200},
		{"IPv6 loopback is fine", "GET", "/path", "", []string{"Host", "[::1]:4096"}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := r.do(tt.method, tt.path, tt.body, tt.header...)
			if res.status != tt.status {
				t.Errorf("status %d, want %d: %s", res.status, tt.status, res.body)
			}
			if strings.Contains(string(res.body), "TOPSECRET") || strings.Contains(string(res.body), "goroutine ") {
				t.Errorf("answer tells too much: %s", res.body)
			}
			if tt.status == 403 && res.header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("the page may read the answer")
			}
		})
	}
}

func TestPassword(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Password = "s3cret:with colon" })
	basic := func(user, pass string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+pass))
	}
	good := basic("opencode", "s3cret:with colon")
	token := base64.URLEncoding.EncodeToString([]byte("opencode:s3cret:with colon"))
	for _, tt := range []struct {
		name, path string
		header     []string
		status     int
	}{
		{"none", "/global/health", nil, 401},
		{"events", "/event", nil, 401},
		{"doc", "/doc", nil, 401},
		{"unknown route", "/nope", nil, 401},
		{"good", "/global/health", []string{"Authorization", good}, 200},
		{"wrong password", "/global/health", []string{"Authorization", basic("opencode", "x")}, 401},
		{"wrong user", "/global/health", []string{"Authorization", basic("root", "s3cret:with colon")}, 401},
		{"empty", "/global/health", []string{"Authorization", basic("", "")}, 401},
		{"bearer", "/global/health", []string{"Authorization", "Bearer " + token}, 401},
		{"token", "/global/health?auth_token=" + token, nil, 200},
		{"bad token", "/global/health?auth_token=xyz", nil, 401},
		{"token beside a bad header", "/global/health?auth_token=" + token, []string{"Authorization", "Basic x"}, 401},
		{"local page", "/global/health", []string{"Authorization", good, "Origin", "http://localhost:3000"}, 200},
		{"desktop program", "/global/health", []string{"Authorization", good, "Origin", "tauri://localhost"}, 200},
		{"hosted page", "/global/health", []string{"Authorization", good, "Origin", "https://app.opencode.ai"}, 200},
		{"hosted page without it", "/global/health", []string{"Origin", "https://app.opencode.ai"}, 401},
		{"rebinding with it", "/global/health", []string{"Authorization", good, "Host", "evil.example"}, 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := r.do("GET", tt.path, "", tt.header...)
			if res.status != tt.status {
				t.Errorf("status %d, want %d: %s", res.status, tt.status, res.body)
			}
			if res.status == 401 && (res.header.Get("WWW-Authenticate") != `Basic realm="Secure Area"` || string(res.body) != "Unauthorized") {
				t.Errorf("refusal %v %s", res.header, res.body)
			}
			if o := tt.header; len(o) > 0 && strings.Contains(strings.Join(o, " "), "https://app.opencode.ai") && res.header.Get("Access-Control-Allow-Origin") == "" {
				t.Error("the page cannot see that a password is needed")
			}
		})
	}
	res := r.do("OPTIONS", "/session", "", "Origin", "http://localhost:3000", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	if res.status != 204 || res.header.Get("Access-Control-Allow-Headers") != "authorization" || res.header.Get("Access-Control-Allow-Origin") != "http://localhost:3000" {
		t.Errorf("preflight: %d %v", res.status, res.header)
	}
	if res := r.do("OPTIONS", "/session", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"); res.header.Get("Access-Control-Allow-Origin") != "" || res.header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("preflight of another site: %v", res.header)
	}
}

func TestSocket(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(shortDir(t), "s", "sock")
	l, err := gate.ListenSocket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v %v", info.Mode(), err)
	}
	if _, err := gate.ListenSocket(t.Context(), path); err == nil {
		t.Error("took over a socket in use")
	}
	hs := r.srv.HTTP()
	stopped := make(chan error)
	go func() { stopped <- hs.Serve(l) }()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /global/health HTTP/1.1\r\nHost: lathe\r\nConnection: close\r\n\r\n")
	got, err := io.ReadAll(c)
	if err != nil || !strings.Contains(string(got), `"healthy":true`) {
		t.Errorf("%v %s", err, got)
	}
	hs.Close()
	<-stopped
	write(t, path, "a file")
	if _, err := gate.ListenSocket(t.Context(), path); err == nil {
		t.Error("replaced a file that is no socket")
	}
}

// A client that sends its header or body too slowly, or too much of it, is let go.
func TestLimits(t *testing.T) {
	r := newRig(t)
	if res := r.do("POST", "/log", `{"service":"x","level":"info","message":"`+strings.Repeat("x", bodyLimit)+`"}`); res.status != http.StatusRequestEntityTooLarge {
		t.Errorf("large body: %d", res.status)
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /path HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n", strings.Repeat("y", headerLimit+8192))
	line, _ := bufio.NewReader(c).ReadString('\n')
	if !strings.Contains(line, "431") {
		t.Errorf("large header: %q", line)
	}
	if s := r.srv.HTTP(); s.ReadHeaderTimeout != headerTimeout || s.IdleTimeout == 0 {
		t.Errorf("timeouts: %v %v", s.ReadHeaderTimeout, s.IdleTimeout)
	}
}

func TestPanic(t *testing.T) {
	r := newRig(t)
	r.srv.mux.group("").HandleFunc("GET /panic", r.srv.handle(func(*call) (any, error) { panic("TOPSECRET") }))
	res := r.do("GET", "/panic", "")
	if res.status != 500 || strings.Contains(string(res.body), "TOPSECRET") || !strings.Contains(string(res.body), res.header.Get("X-Request-Id")) {
		t.Errorf("%d %s", res.status, res.body)
	}
	if res := r.do("GET", "/global/health", ""); res.status != 200 {
		t.Errorf("afterwards: %d", res.status)
	}
}

// rawStream opens an event stream, not in chunks, and reads nothing of it.
func rawStream(t *testing.T, r *rig) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET /event HTTP/1.0\r\nHost: localhost\r\n\r\n")
	line, err := bufio.NewReaderSize(c, 16).ReadString('\n')
	if err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q %v", line, err)
	}
	return c
}
