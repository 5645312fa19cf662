package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/server/gate"
)

// patient is a rig whose server waits only that long for clients.
func patient(t *testing.T, p gate.Patience) (r *rig, hs *http.Server, addr string) {
	r = newRig(t)
	r.srv.patience = p
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hs = r.srv.HTTP()
	stopped := make(chan error, 1)
	go func() { stopped <- hs.Serve(l) }()
	t.Cleanup(func() { hs.Close(); <-stopped })
	return r, hs, l.Addr().String()
}

// Clients that are slow on purpose are let go: they read the end of the connection.
func TestSlowRequests(t *testing.T) {
	const hour = time.Hour
	for _, tt := range []struct {
		name, sends, want string
		p                 gate.Patience
	}{
		{"header", "GET /path HTTP/1.1\r\nHost: localhost\r\nX-A: b", "", gate.Patience{Header: 10 * time.Millisecond, Body: hour, Idle: hour, Stall: hour}},
		{"nothing", "", "", gate.Patience{Header: 10 * time.Millisecond, Body: hour, Idle: hour, Stall: hour}},
		{"body", "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"title\":", "400", gate.Patience{Header: hour, Body: 10 * time.Millisecond, Idle: hour, Stall: hour}},
		{"chunked body", "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{\"", "400", gate.Patience{Header: hour, Body: 10 * time.Millisecond, Idle: hour, Stall: hour}},
		{"stalled body", "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"title\":", "400", gate.Patience{Header: hour, Body: hour, Idle: hour, Stall: 10 * time.Millisecond}},
		{"body that nobody reads", "GET /path HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", "200", gate.Patience{Header: hour, Body: hour, Idle: hour, Stall: 10 * time.Millisecond}},
		{"idle", "GET /global/health HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", gate.Patience{Header: hour, Body: hour, Idle: 10 * time.Millisecond, Stall: hour}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, addr := patient(t, tt.p)
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, tt.sends); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(c) // returns because the server closes
			if err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatal(err)
			}
			if !strings.Contains(string(got), tt.want) || tt.want == "" && strings.Contains(string(got), " 200 ") {
				t.Errorf("answer %q, want %s", got, tt.want)
			}
		})
	}
}

func TestRequestIDs(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t, func(o *Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	for given, kept := range map[string]bool{
		"abc-123_X.y": true, "": false, strings.Repeat("x", 65): false, "a b": false, `"}`: false, "ä": false, "a;b": false,
	} {
		got := r.do("POST", "/nope", "", "X-Request-Id", given).header.Get("X-Request-Id")
		if (got == given) != kept || got == "" {
			t.Errorf("identifier %q became %q", given, got)
		}
	}
	if !strings.Contains(log.String(), `"id":"abc-123_X.y"`) {
		t.Errorf("not in the log: %s", log.String())
	}
}

// What a request changed, opened or was refused is in the log, with who asked; what
// it said is not.
func TestAudit(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t, func(o *Options) {
		o.Password = "hunter2"
		o.Log = slog.New(slog.NewJSONHandler(&log, nil))
	})
	auth := []string{"Authorization", "Basic b3BlbmNvZGU6aHVudGVyMg==", "User-Agent", "someone/1"}
	r.do("POST", "/session?auth_token=c2VjcmV0", `{"title":"PRIVATE"}`, auth...)
	r.do("GET", "/path", "", auth...)
	r.do("GET", "/file/content?path=../PRIVATE", "", auth...)
	r.do("POST", "/session", `{"title":"PRIVATE"}`)
	r.do("DELETE", "/session/ses_x", "", append(auth, "Origin", "https://evil.example")...)
	type line struct {
		Msg, Route, Client, Remote, Origin string
		Status                             int
	}
	var got []line
	for text := range strings.SplitSeq(strings.TrimSpace(log.String()), "\n") {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Msg != "request" {
			continue
		}
		if !strings.HasPrefix(l.Remote, "127.0.0.1:") {
			t.Errorf("from %q", l.Remote)
		}
		l.Remote, l.Msg = "", ""
		got = append(got, l)
	}
	want := []line{
		{Route: "POST /session", Client: "someone/1", Status: 200},
		{Route: "GET /file/content", Client: "someone/1", Status: 403},
		{Route: "POST (refused)", Client: "Go-http-client/1.1", Status: 401},
		{Route: "DELETE (refused)", Client: "someone/1", Status: 403, Origin: "https://evil.example"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	for _, secret := range []string{"PRIVATE", "hunter2", "c2VjcmV0", "b3BlbmNvZGU6"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log holds %s: %s", secret, log.String())
		}
	}
}

func TestCompression(t *testing.T) {
	r := newRig(t)
	r.http.Transport.(*http.Transport).DisableCompression = true
	write(t, filepath.Join(r.dir, "big.txt"), strings.Repeat("all work and no play\n", 4000))
	plain := r.do("GET", "/file/content?path=big.txt", "")
	for _, tt := range []struct {
		path, accept string
		squeezed     bool
	}{
		{"/file/content?path=big.txt", "gzip", true},
		{"/file/content?path=big.txt", "br;q=1.0, gzip;q=0.5", true},
		{"/file/content?path=big.txt", "*", true},
		{"/file/content?path=big.txt", "gzip;q=0, *", false},
		{"/file/content?path=big.txt", "identity", false},
		{"/file/content?path=big.txt", "", false},
		{"/file/content?path=a.txt", "gzip", false},
	} {
		res := r.do("GET", tt.path, "", "Accept-Encoding", tt.accept)
		if got := res.header.Get("Content-Encoding") == "gzip"; got != tt.squeezed || !strings.Contains(strings.Join(res.header.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%s for %q: %v", tt.path, tt.accept, res.header)
		}
		if !tt.squeezed {
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(res.body))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, plain.body) || len(res.body) > len(plain.body)/10 {
			t.Errorf("%d of %d bytes: %v", len(res.body), len(plain.body), err)
		}
	}
	l := r.listen("/event", "Accept-Encoding", "gzip")
	l.until("server.connected")
}

// A server that is about to stop takes no more work, lets what runs be settled,
// and tells its clients the end.
func TestDrain(t *testing.T) {
	r := newRig(t)
	model := r.script("ask.txt", "tool bash {\"command\":\"touch made\",\"description\":\"x\"}\n---\ntext Finished.\n")
	write(t, filepath.Join(r.dir, "opencode.json"), `{"permission":{"bash":"ask"}}`)
	l, g := r.listen("/event"), r.listen("/global/event")
	l.until("server.connected")
	g.until("server.connected")
	sess := r.session()
	if res := r.do("GET", "/global/health", ""); res.status != 200 || !strings.Contains(string(res.body), `"state":"ready"`) {
		t.Errorf("health %d %s", res.status, res.body)
	}
	if res := r.do("POST", sess+"/prompt_async", promptBody(model, "go")); res.status != 204 {
		t.Fatalf("%d %s", res.status, res.body)
	}
	frames := l.until("permission.asked")
	ask := frames[len(frames)-1].props["id"].(string)
	if n := r.svc.Turns.Running(); n != 1 {
		t.Errorf("%d run", n)
	}
	r.srv.Drain()
	for _, tt := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/session", "", 503},
		{"POST", sess + "/message", promptBody(model, "more"), 503},
		{"POST", sess + "/shell", `{"agent":"build","command":"id"}`, 503},
		{"POST", "/pty", "{}", 503},
		{"DELETE", sess, "", 503},
		{"GET", "/global/health", "", 503},
		{"GET", sess, "", 200},
		{"POST", "/permission/" + ask + "/reply", `{"reply":"once"}`, 200},
	} {
		res := r.do(tt.method, tt.path, tt.body)
		if res.status != tt.status {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, res.status, res.body)
		}
		if tt.status == 503 && tt.method != "GET" && res.header.Get("Retry-After") == "" {
			t.Errorf("%s %s: no Retry-After", tt.method, tt.path)
		}
	}
	if err := r.svc.Turns.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "made")); err != nil {
		t.Error(err)
	}
	dirs := r.svc.Instances.Directories()
	if err := r.svc.Close(); err != nil {
		t.Fatal(err)
	}
	r.srv.Farewell(dirs)
	r.bus.Close()
	for _, end := range []struct {
		l    *listener
		kind string
	}{{l, "server.instance.disposed"}, {g, "global.disposed"}} {
		if got := coarse(end.l.until(end.kind)); !strings.Contains(got, "session.idle") {
			t.Errorf("before the end: %s", got)
		}
		if f, ok := <-end.l.frames; ok {
			t.Errorf("after the end: %s", f.raw)
		}
	}
}

// Stop ends in time although a client does not read.
func TestStopWithSlowClient(t *testing.T) {
	r, hs, addr := patient(t, gate.Patience{Header: time.Hour, Body: time.Hour, Idle: time.Hour, Stall: time.Hour})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /event HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if line, err := bufio.NewReaderSize(c, 16).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatal(line, err)
	}
	p := &player{r: r}
	p.open("prt_1")
	for range 64 {
		p.say(strings.Repeat("x", 128<<10))
	}
	p.close()
	if err := r.svc.Close(); err != nil {
		t.Fatal(err)
	}
	r.bus.Close()
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.srv.Stop(now, hs); err != nil {
		t.Error(err)
	}
}

// An address of one kind is listened on as it was said.
func TestListenKinds(t *testing.T) {
	for host, want := range map[string]string{"0.0.0.0": "0.0.0.0:", "127.0.0.1": "127.0.0.1:", "::1": "[::1]:"} {
		l, err := gate.Listen(t.Context(), host, 0, true)
		if err != nil {
			t.Logf("%s: %v", host, err) // there may be no IPv6
			continue
		}
		if !strings.HasPrefix(l.Addr().String(), want) {
			t.Errorf("%s became %s", host, l.Addr())
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// away is another server that does what is asked of a session.
type away struct{ Elsewhere }

func (away) Changes(*http.Request) lathe.SessionID { return "" }
func (away) Offered(context.Context, string) bool  { return false }
func (away) Gather(*http.Request) [][]byte         { return nil }
func (away) Serve(w http.ResponseWriter, r *http.Request, _ func(string) error, _ func(string)) (bool, error) {
	if r.Method == http.MethodGet {
		return false, nil
	}
	w.WriteHeader(http.StatusNoContent)
	return true, nil
}

// What another server did for a request is in the log of the one that was asked, with its route and
// its session.
func TestAuditOfWhatAnotherServerDid(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t, func(o *Options) {
		o.Elsewhere = away{}
		o.Log = slog.New(slog.NewJSONHandler(&log, nil))
	})
	id := "ses_" + strings.Repeat("a", 26)
	r.do("POST", "/session/"+id+"/abort", "")
	var line struct{ Route, Session string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Route != "POST /session/{sessionID}/abort" || line.Session != id {
		t.Errorf("%v, %s", err, log.String())
	}
}
