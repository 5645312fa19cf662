package main

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPServeConformance runs the scenarios of the protocol's own suite for servers
// against lathe mcp serve. The others need tools, resources or prompts that only the
// suite's sample server has, or are about the HTTP that lathe does not serve.
func TestMCPServeConformance(t *testing.T) {
	dir := os.Getenv("LATHE_MCP_SERVERS")
	if dir == "" {
		t.Skip("LATHE_MCP_SERVERS is not set: .ci/mcp installs the suite and runs this")
	}
	suite := filepath.Join(dir, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
	if err := exec.Command("node", suite, "--version").Run(); err != nil {
		t.Skip("the suite does not run here: it needs Node 22 or newer")
	}
	web := httptest.NewServer(&stdioBridge{t: t, sessions: map[string]http.Handler{}})
	t.Cleanup(web.Close)
	for _, scenario := range strings.Fields("server-initialize ping logging-set-level tools-list resources-list prompts-list") {
		t.Run(scenario, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "node", suite, "server", "--url", web.URL, "--scenario", scenario)
			cmd.Dir = t.TempDir()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// stdioBridge serves over HTTP what lathe mcp serve says over its standard streams: each
// session is a process of its own, and messages are passed on as they are.
type stdioBridge struct {
	t        *testing.T
	mu       sync.Mutex
	sessions map[string]http.Handler
}

// ServeHTTP hands a request to its session.
func (b *stdioBridge) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	session, err := b.session(req.Header.Get("Mcp-Session-Id"))
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case session == nil:
		http.Error(w, "there is no such session", http.StatusNotFound)
	default:
		session.ServeHTTP(w, req)
	}
}

// session returns the session with an id, nil if there is none, and a new one for no id.
func (b *stdioBridge) session(id string) (http.Handler, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id != "" {
		return b.sessions[id], nil
	}
	id = rand.Text()
	session, err := b.open(id)
	if err == nil {
		b.sessions[id] = session
	}
	return session, err
}

// open starts a process for a session and passes its messages on until the test ends.
func (b *stdioBridge) open(id string) (http.Handler, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	transport := &mcp.StreamableServerTransport{SessionID: id}
	ctx, stop := context.WithCancel(context.Background())
	b.t.Cleanup(stop)
	client, err := transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	home := b.t.TempDir()
	cmd := exec.Command(self, "mcp", "serve")
	cmd.Dir = home
	cmd.Env = append(hermetic(), asMain+"=1", "PATH="+os.Getenv("PATH"), "HOME="+home, "LATHE_HOME="+filepath.Join(home, "lathe"))
	server, err := (&mcp.CommandTransport{Command: cmd}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	wg.Go(func() { passOn(ctx, client, server) })
	wg.Go(func() { passOn(ctx, server, client) })
	b.t.Cleanup(func() {
		stop()
		_ = client.Close() // to the end of the process
		_ = server.Close()
		wg.Wait()
	})
	return transport, nil
}

// passOn writes what one connection says to another until either ends.
func passOn(ctx context.Context, from, to mcp.Connection) {
	for {
		m, err := from.Read(ctx)
		if err != nil || to.Write(ctx, m) != nil {
			return
		}
	}
}
