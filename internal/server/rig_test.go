package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/bus"
	"lathe/internal/config"
	"lathe/internal/enginetest"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/llm/script"
	"lathe/internal/lsp/lsptest"
	"lathe/internal/session"
	"lathe/internal/turn"
	"lathe/internal/workspace"
)

// TestMain is also the language server that tests configure: LSP_FAKE says how it behaves.
func TestMain(m *testing.M) {
	if how := os.Getenv("LSP_FAKE"); how != "" {
		lsptest.Serve(how)
		return
	}
	goleak.VerifyTestMain(m)
}

// rig is a server on loopback over a real service, with models that play scripts.
type rig struct {
	t    testing.TB
	url  string
	dir  string // a git repository
	srv  *Server
	svc  *session.Service
	bus  *bus.Bus
	http *http.Client
	logs *bytes.Buffer

	fault atomic.Pointer[error] // what the disk says to a write; nil: nothing

	beside string               // what goes before the name of a script's model
	models map[string]llm.Model // in place of scripts, by name; set before the first prompt
}

// shortDir makes a directory for a socket, whose path must be short. It is not named
// after the test, and not where that would be too long all the same.
func shortDir(t testing.TB) string {
	t.Helper()
	parent := ""
	if len(os.TempDir()) > 80 {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "s")
	if err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		dir, err = workspace.Resolve(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// testLimit is how long a test may take: one that waits for ever tells where.
const testLimit = 3 * time.Minute

func newRig(t testing.TB, change ...func(*Options)) *rig {
	t.Helper()
	if _, test := t.(*testing.T); test {
		over := time.AfterFunc(testLimit, func() { panic(t.Name() + " waits for ever") })
		t.Cleanup(func() { over.Stop() })
	}
	top, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, dir := filepath.Join(top, "home"), filepath.Join(top, "repo")
	for name, text := range map[string]string{
		"repo/a.txt": "hello\nworld\n", "repo/sub/b.go": "package b\n", "outside/secret.txt": "TOPSECRET\n", "home/.keep": "",
		"repo/.gitignore": "ignored.txt\n", "repo/ignored.txt": "x\n",
	} {
		write(t, filepath.Join(top, name), text)
	}
	enginetest.Repository(t, dir, home)
	env := map[string]string{"HOME": home, "LATHE_HOME": filepath.Join(home, "lathe"), "PATH": os.Getenv("PATH")}
	paths, err := config.DefaultPaths(func(k string) string { return env[k] })
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]llm.Model{}
	b := bus.New(bus.Options{})
	r := &rig{t: t, dir: dir, bus: b, logs: &bytes.Buffer{}, models: models}
	own, _ := paths.AuthFile()
	creds := auth.Open(auth.Options{Path: own})
	engine, err := enginetest.Open(t.Context(), enginetest.Options{
		Env: env, Fault: r.broken, Session: session.Options{Bus: b, Retries: turn.Retries{Base: time.Millisecond}},
		Instance: instance.Options{
			Auth: creds, Trusted: func(workspace.Root) bool { return true },
			Builtin: func(ref lathe.ModelRef) (llm.Model, bool) {
				if m := models[ref.Model]; m != nil {
					return m, true
				}
				return script.New(func() ([]byte, error) { return os.ReadFile(filepath.Join(top, ref.Model)) }), ref.Provider == "script"
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	svc, environ := engine.Service, engine.Instance.Environ
	r.svc = svc
	o := Options{
		Service: svc, Store: engine.Store, Bus: b, Jobs: engine.Jobs, Auth: creds, Paths: paths, IDs: engine.Instance.IDs, Dir: dir, Directories: []string{"/"}, Environ: environ, Shell: "/bin/sh",
		Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&o)
	}
	r.srv = New(o)
	ts := httptest.NewUnstartedServer(r.srv)
	ts.Config = r.srv.HTTP()
	ts.Start()
	r.url, r.http = ts.URL, ts.Client()
	t.Cleanup(func() {
		for _, close := range []func() error{svc.Close, r.srv.Close} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
		ts.Close()
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// broken is how writes to the store fail at the moment.
func (r *rig) broken() error {
	if err := r.fault.Load(); err != nil {
		return *err
	}
	return nil
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// script stores a script beside the repository and returns its model's name.
func (r *rig) script(name, text string) string {
	write(r.t, filepath.Join(filepath.Dir(r.dir), name), text)
	return r.beside + name
}

type result struct {
	status int
	header http.Header
	body   []byte
}

func (r *rig) do(method, path, body string, header ...string) result {
	r.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.srv == nil { // it is in another process, and not in the directory
		req.Header.Set("X-Opencode-Directory", r.dir)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	return result{resp.StatusCode, resp.Header, raw}
}

// ok is do for what must succeed.
func (r *rig) ok(method, path, body string) any {
	r.t.Helper()
	res := r.do(method, path, body)
	if res.status/100 != 2 {
		r.t.Fatalf("%s %s: %d %s", method, path, res.status, res.body)
	}
	var v any
	if len(res.body) > 0 {
		if err := json.Unmarshal(res.body, &v); err != nil {
			r.t.Fatalf("%s %s: %v in %s", method, path, err, res.body)
		}
	}
	return v
}

// session makes a session and returns its path.
func (r *rig) session() string {
	r.t.Helper()
	return "/session/" + r.ok("POST", "/session", "").(map[string]any)["id"].(string)
}

func promptBody(model, text string) string {
	raw, err := json.Marshal(map[string]any{
		"model": map[string]string{"providerID": "script", "modelID": model},
		"parts": []any{map[string]string{"type": "text", "text": text}},
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}
