//go:build unix

package team

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	wired   bool   // there is a wire between the database and each process, and each has a clock
	files   bool   // sessions are kept in files, for comparison

	procs []*proc // servers first
}

// proc is a server or a worker. It is started again when it was killed.
type proc struct {
	r      *rig
	name   string
	worker bool
	wire   *wire
	clock  *clock
	store  string // address of the database; "" for files

	mu      sync.Mutex
	cmd     *exec.Cmd
	ended   chan struct{} // closed when it has
	address string        // of a server; "" while it is down
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
		if r.wired {
			buildSkewed(t, r.bin, r.root)
		} else if out, err := exec.Command("go", "build", "-o", r.bin, "lathe/cmd/lathe").CombinedOutput(); err != nil {
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
			p.clock = newClock(t, filepath.Join(r.root, p.name+".clock"))
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
		if p.clock != nil {
			cmd.Env = append(cmd.Env, "LATHE_TEST_CLOCK="+p.clock.path)
		}
		said, err := os.OpenFile(p.said(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		must(p.r.t, err)
		cmd.Stderr = said
		out, err := cmd.StdoutPipe()
		must(p.r.t, err)
		must(p.r.t, cmd.Start())
		must(p.r.t, said.Close())
		line, err := bufio.NewReader(out).ReadString('\n')
		if err == nil {
			_, address, _ := strings.Cut(strings.TrimSpace(line), "http://")
			ended := make(chan struct{})
			p.mu.Lock()
			p.cmd, p.ended = cmd, ended
			if address != "" {
				p.address = "http://" + address
			}
			p.mu.Unlock()
			go func() {
				defer close(ended)
				_, _ = io.Copy(io.Discard, out)
				_ = cmd.Wait() // its state says how
				p.mu.Lock()
				defer p.mu.Unlock()
				if p.cmd == cmd {
					p.r.t.Errorf("%s ended by itself: %v", p.name, cmd.ProcessState)
				}
			}()
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
	if cmd, ended := p.leave(); cmd != nil {
		_ = cmd.Process.Kill()
		<-ended
	}
}

// leave returns the process, which is to be ended now, and what is closed when it has.
func (p *proc) leave() (cmd *exec.Cmd, ended <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd, ended = p.cmd, p.ended
	p.cmd, p.address = nil, ""
	return cmd, ended
}

// dump ends the process, which writes what each of its goroutines does.
func (p *proc) dump() {
	if cmd, ended := p.leave(); cmd != nil {
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		late := time.AfterFunc(patience/10, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		<-ended
	}
}

// stop has the process end by itself, as an update of a machine does.
func (p *proc) stop() {
	cmd, ended := p.leave()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(patience, func() {
		p.r.t.Errorf("%s does not end", p.name)
		_ = cmd.Process.Kill()
	})
	defer late.Stop()
	<-ended // whatever its exit code is
}

// said is the file with what the process has said to a person.
func (p *proc) said() string { return filepath.Join(p.r.root, p.name+".stderr") }

// logs are the files that the process has written about itself, and what it has said.
func (p *proc) logs() []string {
	paths, _ := filepath.Glob(filepath.Join(p.r.root, p.name, "state", "log", "*"))
	more, _ := filepath.Glob(filepath.Join(p.r.root, p.name, "*", "log", "*"))
	return slices.Compact(slices.Sorted(slices.Values(append(append(paths, more...), p.said()))))
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

// askFor is ask of a client that waits for twenty seconds.
func (p *proc) askFor(method, path string, body any) (status int, out []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return p.ask(ctx, method, path, body)
}

// insist asks one server after the other until one answers well.
func (r *rig) insist(random *rand.Rand, method, path string, body any) []byte {
	out, _ := r.persist(random, method, path, body, func(*proc, int) {})
	return out
}

// persist is insist, and tells about each attempt. Unsure says that one before the last may
// have had an effect, or may still have: a server gave no answer, or could not say.
func (r *rig) persist(random *rand.Rand, method, path string, body any, tell func(*proc, int)) (out []byte, unsure bool) {
	var status int
	for end := time.Now().Add(patience); time.Now().Before(end) && !r.t.Failed(); time.Sleep(50 * time.Millisecond) {
		up := r.servers()
		if len(up) == 0 {
			continue
		}
		p := up[random.IntN(len(up))]
		status, out = p.askFor(method, path, body)
		tell(p, status)
		if status/100 == 2 {
			return out, unsure
		}
		unsure = unsure || status/100 != 4
	}
	if !r.t.Failed() {
		r.t.Errorf("%s %s: %d %s", method, path, status, out)
	}
	return nil, unsure
}
