package acp

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/goleak"

	"lathe"
	"lathe/internal/client"
	"lathe/internal/enginetest"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/llm/script"
	"lathe/internal/server/servertest"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testLimit is how long a test may wait for something: one that waits for ever tells where.
const testLimit = time.Minute

// rig is an engine with a repository, and an editor that drives it.
type rig struct {
	t       *testing.T
	dir     string // the repository
	client  *client.Client
	buffers tool.Buffers
	script  func(text string) // what the model says from now on

	editor *jsonrpc2.Conn
	served chan error

	mu      sync.Mutex
	changed chan struct{} // closed when something came
	updates []map[string]any
	asked   []map[string]any // requests of the agent
	// answer answers the agent's requests; nil: the ask stays open.
	answer func(ctx context.Context, method string, params map[string]any) (any, bool)
}

func newRig(t *testing.T, capabilities string, options ...func(*Options)) *rig {
	t.Helper()
	over := time.AfterFunc(testLimit, func() { panic(t.Name() + " waits for ever") })
	t.Cleanup(func() { over.Stop() })
	top, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: filepath.Join(top, "repo"), changed: make(chan struct{}), served: make(chan error, 1)}
	home := filepath.Join(top, "home")
	write(t, filepath.Join(r.dir, "a.txt"), "hello\nworld\n")
	write(t, filepath.Join(home, ".keep"), "")
	enginetest.Repository(t, r.dir, home)
	file := filepath.Join(top, "model.script")
	r.script = func(text string) { write(t, file, text) }
	r.script("text Done.\n")
	r.client = r.engine(home, file)
	r.serve(capabilities, options)
	return r
}

func (r *rig) engine(home, file string) *client.Client {
	t := r.t
	env := map[string]string{
		"HOME": home, "LATHE_HOME": filepath.Join(home, "lathe"), "PATH": os.Getenv("PATH"),
		"LATHE_CONFIG_CONTENT": `{"model":"script/m","snapshot":true}`,
	}
	srv := servertest.Open(t, r.dir, enginetest.Options{Env: env, Instance: instance.Options{
		Buffers: &r.buffers,
		Builtin: func(ref lathe.ModelRef) (llm.Model, bool) {
			return script.New(func() ([]byte, error) { return os.ReadFile(file) }), ref.Provider == "script"
		},
	}})
	c, err := client.New(client.Options{URL: "http://localhost", Transport: client.InProcess(srv), Source: srv, Dir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// pair is one end of a connection.
type pair struct {
	io.Reader
	io.Writer
	closers []io.Closer
}

func (p pair) Close() error {
	for _, c := range p.closers {
		_ = c.Close()
	}
	return nil
}

func (r *rig) serve(capabilities string, options []func(*Options)) {
	fromEditor, toAgent := io.Pipe()
	fromAgent, toEditor := io.Pipe()
	o := Options{Open: func() (*client.Client, error) { return r.client, nil }, In: fromEditor, Out: toEditor, Files: r.buffers.Take}
	for _, change := range options {
		change(&o)
	}
	go func() { // ends when the editor closes
		r.served <- Serve(context.Background(), o)
		toEditor.Close()
	}()
	stream := jsonrpc2.NewPlainObjectStream(pair{fromAgent, toAgent, []io.Closer{toAgent}})
	r.editor = jsonrpc2.NewConn(context.Background(), stream, r)
	r.t.Cleanup(func() { r.close() })
	r.call("initialize", `{"protocolVersion":1,"clientCapabilities":`+capabilities+`}`, nil)
}

// close closes the editor and waits until the agent has ended.
func (r *rig) close() {
	r.editor.Close()
	if err := <-r.served; err != nil {
		r.t.Errorf("the agent ended with %v", err)
	}
	r.served <- nil
}

// Handle takes what the agent sends, in its order.
func (r *rig) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var p map[string]any
	if err := json.Unmarshal(*req.Params, &p); err != nil {
		r.t.Errorf("%s: %v", req.Method, err)
		return
	}
	r.mu.Lock()
	if req.Notif && req.Method == "session/update" {
		r.updates = append(r.updates, p["update"].(map[string]any))
	} else {
		p["method"] = req.Method
		r.asked = append(r.asked, p)
	}
	answer := r.answer
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
	if req.Notif || answer == nil {
		return
	}
	go func() { // the answer may take as long as it likes
		if out, ok := answer(ctx, req.Method, p); ok {
			_ = conn.Reply(ctx, req.ID, out)
		}
	}()
}

// call makes a request of the agent.
func (r *rig) call(method, params string, out any) {
	r.t.Helper()
	if err := r.try(method, params, out); err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
}

func (r *rig) try(method, params string, out any) error {
	if out == nil {
		out = &struct{}{}
	}
	return r.editor.Call(r.t.Context(), method, json.RawMessage(params), out)
}

// open begins a session.
func (r *rig) open() string {
	r.t.Helper()
	var s sessionResponse
	r.call("session/new", `{"cwd":`+quote(r.dir)+`,"mcpServers":[]}`, &s)
	return s.SessionID
}

// prompt sends a text and returns why its turn ended.
func (r *rig) prompt(id, text string) string {
	r.t.Helper()
	var out promptResponse
	r.call("session/prompt", `{"sessionId":"`+id+`","prompt":[{"type":"text","text":`+quote(text)+`}]}`, &out)
	return out.StopReason
}

func quote(s string) string {
	b, _ := json.Marshal(s) // texts always encode
	return string(b)
}

// until waits until the updates and requests so far are enough.
func (r *rig) until(enough func(updates, asked []map[string]any) bool) {
	r.t.Helper()
	for {
		r.mu.Lock()
		ok, next := enough(r.updates, r.asked), r.changed
		r.mu.Unlock()
		if ok {
			return
		}
		<-next
	}
}

// said returns the texts of a kind of update, joined.
func (r *rig) said(kind string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, u := range r.updates {
		if c, ok := u["content"].(map[string]any); ok && u["sessionUpdate"] == kind {
			s, _ := c["text"].(string)
			b.WriteString(s)
		}
	}
	return b.String()
}

// kinds returns the kinds of updates in their order, each run of one kind once.
func (r *rig) kinds() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, u := range r.updates {
		k := u["sessionUpdate"].(string)
		if len(out) == 0 || out[len(out)-1] != k {
			out = append(out, k)
		}
	}
	return out
}

func (r *rig) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.updates, r.asked = nil, nil
}

func (r *rig) answers(f func(ctx context.Context, method string, params map[string]any) (any, bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
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

func (r *rig) seen() []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.updates)
}

func (r *rig) requests() []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}
