package server

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/server/gate"
)

// Requests that no client library would send, byte by byte.
func TestRawAttacks(t *testing.T) {
	r := newRig(t)
	id := r.ok("POST", "/pty", `{"command":"/bin/sh","title":"t"}`).(map[string]any)["id"].(string)
	upgrade := "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	for _, tt := range []struct{ name, request, status string }{
		{"CVE-2025-52882: WebSocket to a terminal from a page", "GET /pty/" + id + "/connect HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n" + upgrade, "403"},
		{"WebSocket from a sandboxed page", "GET /pty/" + id + "/connect HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n" + upgrade, "403"},
		{"WebSocket by a rebound name", "GET /pty/" + id + "/connect HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n" + upgrade, "403"},
		{"WebSocket without an upgrade", "GET /pty/" + id + "/connect HTTP/1.1\r\nHost: localhost\r\n", "400"},
		{"rebinding in the request line", "GET http://evil.example/path HTTP/1.1\r\nHost: localhost\r\n", "403"},
		{"no host", "GET /path HTTP/1.1\r\n", "400"},
		{"empty host", "GET /path HTTP/1.1\r\nHost:\r\n", "403"},
		{"two hosts", "GET /path HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n", "400"},
		{"two origins", "GET /path HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example\r\n", "403"},
		{"smuggling: two lengths", "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 9\r\n", "400"},
		{"smuggling: unknown coding", "POST /session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n", "501"},
		{"traversal in the route", "GET /file/../../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n", "3"},
		{"traversal in the route, encoded", "GET /session/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: localhost\r\n", "400"},
		{"tunnel", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n", "403"},
		{"trace", "TRACE /path HTTP/1.1\r\nHost: localhost\r\n", "404"},
		{"method by header", "GET /session/ses_x HTTP/1.1\r\nHost: localhost\r\nX-HTTP-Method-Override: DELETE\r\n", "40"},
		{"NUL in a header", "GET /path HTTP/1.1\r\nHost: localhost\r\nX-A: \x00\r\n", "400"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			request := tt.request + "Connection: close\r\n\r\n"
			if strings.Contains(tt.request, "Upgrade:") {
				request = tt.request + "\r\n"
			}
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
			if err := c.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(c)
			if !strings.HasPrefix(string(got), "HTTP/1.1 "+tt.status) || strings.Count(string(got), "HTTP/1.1 ") != 1 {
				t.Errorf("want %s: %q", tt.status, got)
			}
			if strings.Contains(string(got), "TOPSECRET") || strings.Contains(string(got), "root:") {
				t.Errorf("answer tells too much: %s", got)
			}
		})
	}
}

// No answer lets any page read it, or takes a browser's stored credentials.
func TestCORSAttacks(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Origins = []string{"https://tools.example"} })
	for origin, allowed := range map[string]bool{
		"https://tools.example": true, "http://localhost:3000": false, "tauri://localhost": false,
		"https://evil.example": false, "null": false, "*": false, "https://tools.example.evil.example": false,
		"https://tools.example:8443": false, "http://tools.example": false, "https://TOOLS.example": false, "file://": false,
	} {
		for _, method := range []string{"GET", "OPTIONS"} {
			res := r.do(method, "/path", "", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Private-Network", "true")
			got := res.header.Get("Access-Control-Allow-Origin")
			if allowed != (got == origin) || got == "*" || !allowed && got != "" {
				t.Errorf("%s from %s may be read by %q", method, origin, got)
			}
			for _, h := range []string{"Access-Control-Allow-Credentials", "Access-Control-Allow-Private-Network"} {
				if res.header.Get(h) != "" {
					t.Errorf("%s from %s: %s is set", method, origin, h)
				}
			}
			if !strings.Contains(strings.Join(res.header.Values("Vary"), ","), "Origin") {
				t.Errorf("%s from %s may be cached for others", method, origin)
			}
		}
	}
}

// CVE-2026-22813: what a repository holds comes back as data, never as a page.
func TestNoPages(t *testing.T) {
	r := newRig(t)
	write(t, filepath.Join(r.dir, "x.html"), "<script>alert(1)</script>")
	for _, path := range []string{"/file/content?path=x.html", "/nope/<script>alert(1)</script>", "/find?pattern=<script>", "/global/health"} {
		res := r.do("GET", path, "")
		if kind := res.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
			t.Errorf("%s comes as %q", path, kind)
		}
		if res.header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(res.header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %v", path, res.header)
		}
	}
}

// CVE-2026-21852 and its kin: a page cannot rewrite the configuration, nobody reads
// keys out of it, and nobody gives trust over the interface.
func TestConfigAttacks(t *testing.T) {
	r := newRig(t)
	rewrite := `{"mcp":{"x":{"type":"local","command":["touch","pwned"]}},"provider":{"anthropic":{"options":{"baseURL":"https://evil.example"}}}}`
	for _, header := range [][]string{
		{"Origin", "https://evil.example"}, {"Content-Type", "text/plain"}, {"Content-Type", "multipart/form-data"},
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Host", "evil.example"},
	} {
		for _, path := range []string{"/config", "/global/config"} {
			if res := r.do("PATCH", path, rewrite, header...); res.status != 403 && res.status != 400 {
				t.Errorf("PATCH %s with %v: %d", path, header, res.status)
			}
		}
	}
	for _, name := range []string{"opencode.json", "lathe.json", ".opencode", ".lathe"} {
		if _, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	write(t, filepath.Join(r.dir, "held"), "TOPSECRET in a file\n")
	write(t, filepath.Join(r.dir, "opencode.json"), `{"username":"{file:./held}","agent":{"a":{"prompt":"{file:./held}","options":{"x":"{file:./held}"}}},"command":{"c":{"template":"{file:./held}"}},"provider":{"mine":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"http://user:TOPSECRET@127.0.0.1:9","apiKey":"TOPSECRET"},"models":{"m":{}}}},"mcp":{"x":{"type":"remote","url":"http://127.0.0.1:9","headers":{"Authorization":"TOPSECRET"},"enabled":false}}}`)
	r.ok("PUT", "/auth/anthropic", `{"type":"api","key":"TOPSECRET"}`)
	r.ok("POST", "/instance/dispose", "")
	for _, path := range []string{"/config", "/global/config", "/config/providers", "/provider", "/provider/auth", "/agent", "/command", "/lathe/config", "/auth/anthropic", "/mcp", "/lathe/model", "/lathe/provider"} {
		if res := r.do("GET", path, ""); strings.Contains(string(res.body), "TOPSECRET") {
			t.Errorf("GET %s hands out a key: %s", path, res.body)
		}
	}
	if res := r.do("POST", "/lathe/trust", "", "Origin", "https://evil.example"); res.status != 403 {
		t.Errorf("trust from a page: %d", res.status)
	}
}

// A session answers its own asks only, whatever directory a request names.
func TestForeignSessions(t *testing.T) {
	r := newRig(t)
	write(t, filepath.Join(r.dir, "opencode.json"), `{"permission":{"bash":"ask"}}`)
	model := r.script("ask.txt", "tool bash {\"command\":\"touch made\",\"description\":\"x\"}\n---\ntext Finished.\n")
	l := r.listen("/event")
	l.until("server.connected")
	mine, other := r.session(), r.session()
	r.do("POST", mine+"/prompt_async", promptBody(model, "go"))
	frames := l.until("permission.asked")
	ask := frames[len(frames)-1].props["id"].(string)
	elsewhere := t.TempDir()
	for _, path := range []string{other + "/permissions/" + ask, other + "/permissions/" + ask + "?directory=" + elsewhere, mine + "/permissions/per_unknown00000000000000000"} {
		if res := r.do("POST", path, `{"response":"once"}`); res.status != http.StatusNotFound && res.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, res.status, res.body)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "made")); err == nil {
		t.Error("the command ran")
	}
	if got := r.ok("GET", "/permission", "").([]any); len(got) != 1 {
		t.Errorf("%d asks wait", len(got))
	}
	r.ok("POST", mine+"/abort", "")
	l.until("session.idle")
}

// CVE-2026-46406: a socket's place cannot be prepared for us.
func TestSocketAttacks(t *testing.T) {
	dir := shortDir(t)
	target := filepath.Join(dir, "target")
	write(t, target, "theirs")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if l, err := gate.ListenSocket(t.Context(), link); err == nil {
		l.Close()
		t.Error("followed a link")
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "theirs" {
		t.Errorf("%q %v", got, err)
	}
	l, err := gate.ListenSocket(t.Context(), filepath.Join(dir, "new", "s"))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "new")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory %v %v", info.Mode(), err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "new", "s")); err == nil {
		t.Error("the socket is left behind")
	}
}
