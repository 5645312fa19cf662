//go:build unix

package team

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lathe/internal/store/postgres/pgtest"
)

// patience bounds every wait. It is generous: what is checked are promises, not times.
const patience = 3 * time.Minute

// rig is a team: servers without files, workers with them, a database, and a wire
// between it and each of them.
type rig struct {
	t       testing.TB
	bin     string
	root    string // of everything
	dir     string // the project
	db      *pgtest.Server
	url     string // of the model
	workers bool   // servers have no files themselves
	wired   bool   // there is a wire between the database and each process
	files   bool   // sessions are kept in files, for comparison

	procs []*proc // servers first
}

// proc is a server or a worker. It is started again when it was killed.
type proc struct {
	r      *rig
	name   string
	worker bool
	wire   *wire
	store  string // address of the database; "" for files

	mu      sync.Mutex
	cmd     *exec.Cmd
	address string // of a server; "" while it is down
}

func newRig(t *testing.T, servers, workers int) *rig {
	t.Helper()
	r := &rig{t: t, db: pgtest.Start(t), wired: true}
	r.open(servers, workers, answer)
	return r
}

// open starts what the rig consists of beside the database.
func (r *rig) open(servers, workers int, answer http.HandlerFunc) {
	t := r.t
	t.Helper()
	r.bin, r.root, r.workers = os.Getenv("LATHE_BIN"), t.TempDir(), workers > 0
	if r.bin == "" {
		r.bin = filepath.Join(r.root, "lathe")
		if out, err := exec.Command("go", "build", "-o", r.bin, "lathe/cmd/lathe").CombinedOutput(); err != nil {
			t.Fatalf("build: %v %s", err, out)
		}
	}
	r.dir = filepath.Join(r.root, "project")
	must(t, os.MkdirAll(filepath.Join(r.dir, "runs"), 0o700))
	model := httptest.NewServer(answer)
	t.Cleanup(model.Close)
	r.url = model.URL
	for i := range servers + workers {
		kind := "server"
		if i >= servers {
			kind = "worker"
		}
		p := &proc{r: r, name: fmt.Sprint(kind, i), worker: i >= servers}
		switch {
		case r.wired:
			p.wire = newWire(t, r.db.Socket())
			p.store = p.wire.url
		case !r.files:
			p.store = r.db.URL()
		}
		r.procs = append(r.procs, p)
		p.start()
		t.Cleanup(p.kill)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// servers are those that are up.
func (r *rig) servers() (up []*proc) {
	for _, p := range r.procs {
		if !p.worker && p.at() != "" {
			up = append(up, p)
		}
	}
	return up
}

func (p *proc) at() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.address
}

// start starts the process and waits until it says that it is there, which takes as long
// as the database is away.
func (p *proc) start() {
	home := filepath.Join(p.r.root, p.name)
	config, err := json.Marshal(map[string]any{
		"model": "test/m", "snapshot": false, "share": "disabled", "sandbox": "off",
		"provider": map[string]any{"test": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Test", "options": map[string]any{"baseURL": p.r.url + "/v1", "apiKey": "sk-test-0123456789"},
			"models": map[string]any{"m": map[string]any{"tool_call": true, "limit": map[string]any{"context": 200000, "output": 8192}}},
		}},
	})
	must(p.r.t, err)
	must(p.r.t, os.MkdirAll(filepath.Join(home, "config"), 0o700))
	must(p.r.t, os.WriteFile(filepath.Join(home, "config", "lathe.json"), config, 0o600))
	args := []string{"serve", "--port", "0"}
	switch {
	case p.worker:
		args = []string{"worker", "--root", p.r.dir, "--turns", "4"}
	case p.r.workers:
		args = append(args, "--workers-only")
	}
	for end := time.Now().Add(patience); ; {
		cmd := exec.Command(p.r.bin, args...)
		cmd.Dir = p.r.dir
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LATHE_HOME=" + home, "LATHE_STORE=" + p.store,
			"OPENCODE_DISABLE_MODELS_FETCH=1", "LATHE_DISABLE_LOCAL_MODELS=1", "LATHE_RETRY_BASE=1ms", "TZ=UTC",
		}
		out, err := cmd.StdoutPipe()
		must(p.r.t, err)
		must(p.r.t, cmd.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		if err == nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			_, address, _ := strings.Cut(strings.TrimSpace(line), "http://")
			p.mu.Lock()
			p.cmd = cmd
			if address != "" {
				p.address = "http://" + address
			}
			p.mu.Unlock()
			return
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if time.Now().After(end) {
			p.r.t.Fatalf("%s does not start", p.name)
		}
	}
}

// kill ends the process at once. It may be called twice.
func (p *proc) kill() {
	p.mu.Lock()
	cmd := p.cmd
	p.cmd, p.address = nil, ""
	p.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}
}

// pause stops the process for a while, so that it is taken for dead, and comes back.
func (p *proc) pause(d time.Duration) {
	p.mu.Lock()
	cmd := p.cmd
	p.mu.Unlock()
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(d)
	_ = cmd.Process.Signal(syscall.SIGCONT)
}

// wire carries the connections of one process to the database.
type wire struct {
	url    string
	socket string
	listen net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
	held  chan struct{} // closed to let bytes pass again; nil: they pass
}

func newWire(t testing.TB, socket string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w := &wire{socket: socket, listen: l, conns: map[net.Conn]bool{}, url: fmt.Sprintf("postgres://lathe@%s/postgres?sslmode=disable", l.Addr())}
	go w.serve()
	t.Cleanup(func() { _ = l.Close(); w.cut() })
	return w
}

func (w *wire) serve() {
	for {
		c, err := w.listen.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("unix", w.socket)
		if err != nil {
			_ = c.Close()
			continue
		}
		w.mu.Lock()
		w.conns[c], w.conns[to] = true, true
		w.mu.Unlock()
		go w.carry(c, to)
		go w.carry(to, c)
	}
}

func (w *wire) carry(from, to net.Conn) {
	defer func() {
		_, _ = from.Close(), to.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.conns, from)
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		w.mu.Lock()
		held := w.held
		w.mu.Unlock()
		if held != nil {
			<-held
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// cut closes all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_ = c.Close()
	}
}

// hold delays what is sent.
func (w *wire) hold(d time.Duration) {
	held := make(chan struct{})
	w.mu.Lock()
	w.held = held
	w.mu.Unlock()
	time.Sleep(d)
	w.mu.Lock()
	w.held = nil
	w.mu.Unlock()
	close(held)
}

// ask makes a request to a server; status 0 means that there was no answer.
func (p *proc) ask(ctx context.Context, method, path string, body any) (status int, out []byte) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil
	}
	req, err := http.NewRequestWithContext(ctx, method, p.at()+path+"?directory="+url.QueryEscape(p.r.dir), strings.NewReader(string(raw)))
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = res.Body.Close() }()
	out, err = io.ReadAll(res.Body)
	if err != nil {
		return 0, nil
	}
	return res.StatusCode, out
}

// insist asks one server after the other until one answers well.
func (r *rig) insist(random *rand.Rand, method, path string, body any) []byte {
	var status int
	var out []byte
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		up := r.servers()
		if len(up) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		status, out = up[random.IntN(len(up))].ask(ctx, method, path, body)
		cancel()
		if status/100 == 2 {
			return out
		}
	}
	r.t.Errorf("%s %s: %d %s", method, path, status, out)
	return nil
}

var wanted = regexp.MustCompile(`token (\w+)`)

// asked is what a model is sent.
type asked struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []any `json:"tools"`
}

// chunks begins an answer and returns what sends a piece of it.
func chunks(w http.ResponseWriter) func(delta map[string]any, finish any) {
	w.Header().Set("Content-Type", "text/event-stream")
	return func(delta map[string]any, finish any) {
		raw, err := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		if err == nil {
			fmt.Fprintf(w, "data: %s\n\n", raw)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// answer is a model: it has the token of the newest prompt written to a file, once, and
// then says so.
func answer(w http.ResponseWriter, r *http.Request) {
	var in asked
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	token, called := "", false
	for _, m := range in.Messages {
		if all := wanted.FindAllStringSubmatch(string(m.Content), -1); m.Role == "user" && len(all) > 0 {
			token, called = all[len(all)-1][1], false
		}
		called = called || m.Role == "tool"
	}
	chunk := chunks(w)
	if called || len(in.Tools) == 0 || token == "" {
		chunk(map[string]any{"role": "assistant", "content": "done with " + token}, nil)
		chunk(map[string]any{}, "stop")
	} else {
		args, err := json.Marshal(map[string]string{"command": "echo ran >> runs/" + token + "; sleep 0.3", "description": "run"})
		if err != nil {
			return
		}
		chunk(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": "call_" + token, "type": "function", "function": map[string]any{"name": "bash", "arguments": string(args)},
		}}}, nil)
		chunk(map[string]any{}, "tool_calls")
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
