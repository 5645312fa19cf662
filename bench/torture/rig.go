package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience is how long anything may take that must come to an end: generous,
// since the machine may be busy.
const patience = 60 * time.Second

// rig is a data directory, projects, a provider and the server that works on them.
type rig struct {
	*report
	ctx    context.Context
	opts   options
	random *rand.Rand
	seed   uint64
	part   string

	dir   string // everything is below
	home  string // LATHE_HOME
	env   []string
	model *model
	mount bool

	srv   *server
	told  *told
	users []*user
	done  int // rounds on this rig
}

// server is a running lathe.
type server struct {
	cmd    *exec.Cmd
	url    string
	stderr *tail
	exited chan struct{}
}

func newRig(ctx context.Context, o options, rep *report) (*rig, error) {
	dir, err := os.MkdirTemp("", "lathe-torture-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	r := &rig{report: rep, ctx: ctx, opts: o, dir: dir, home: filepath.Join(dir, "home"), told: newTold()}
	if r.model, err = startModel(r); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := r.configure(); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *rig) configure() error {
	if err := os.MkdirAll(filepath.Join(r.home, "config"), 0o700); err != nil {
		return err
	}
	conf := fmt.Sprintf(`{"model":"test/m","small_model":"test/m","permission":"allow","share":"disabled","provider":{"test":{"npm":"@ai-sdk/openai-compatible",
		"options":{"baseURL":%q,"apiKey":"k"},"models":{"m":{"name":"m","limit":{"context":200000,"output":8000}}}}}}`, r.model.url+"/v1")
	return os.WriteFile(filepath.Join(r.home, "config", "lathe.json"), []byte(conf), 0o600)
}

// begin makes a round's chance.
func (r *rig) begin(part string, seed uint64) {
	r.part, r.seed, r.random = part, seed, rand.New(rand.NewPCG(seed, 0))
	r.done++
}

func (r *rig) where() string { return fmt.Sprintf("-what %s -rounds 1 -seed %d", r.part, r.seed) }

func (r *rig) wrong(kind, format string, args ...any) { r.violation(kind, r.where(), format, args...) }

// project makes a repository for one user.
func (r *rig) project(name string) (string, error) {
	dir := filepath.Join(r.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "start.txt"), []byte("start\n"), 0o644); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-qm", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	return dir, nil
}

// command is the program under test.
func (r *rig) command(args ...string) *exec.Cmd {
	program := r.opts.lathe
	if program == "" {
		program, _ = os.Executable()
	}
	cmd := exec.CommandContext(r.ctx, program, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), childEnv+"=1", "LATHE_HOME="+r.home, "HOME="+r.dir, "OPENCODE_DISABLE_MODELS_FETCH=1",
		"LATHE_DISABLE_LOCAL_MODELS=1", "LATHE_RETRY_BASE=1ms", "GIT_CONFIG_NOSYSTEM=1", "NO_PROXY=*")
	cmd.Env = append(cmd.Env, r.env...)
	cmd.WaitDelay = time.Second
	return cmd
}

// start starts the server and follows its events.
func (r *rig) start(env ...string) error {
	cmd := r.command("serve", "--port", "0")
	cmd.Env = append(cmd.Env, env...)
	stderr := &tail{}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s := &server{cmd: cmd, stderr: stderr, exited: make(chan struct{})}
	first := make(chan string, 1)
	go func() {
		in := bufio.NewScanner(out)
		if in.Scan() {
			first <- in.Text()
		}
		close(first)
		for in.Scan() {
		}
		_ = cmd.Wait()
		close(s.exited)
	}()
	select {
	case line := <-first:
		s.url = strings.TrimPrefix(line, "lathe server listening on ")
	case <-time.After(patience):
	}
	if s.url == "" {
		_ = cmd.Process.Kill()
		<-s.exited
		return fmt.Errorf("the server does not start: %s", stderr)
	}
	r.srv = s
	return r.follow()
}

// kill ends the server as if the power of its process went. What it started goes,
// too: its supervisor sees to that.
func (r *rig) kill() {
	_ = r.srv.cmd.Process.Kill()
	<-r.srv.exited
}

// stop ends the server in order.
func (r *rig) stop() {
	if r.srv == nil {
		return
	}
	_ = r.srv.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.srv.exited:
	case <-time.After(patience):
		r.wrong("no end", "the server does not end when it is told to: %s", r.srv.stderr)
		r.kill()
	}
	if strings.Contains(r.srv.stderr.String(), "panic") {
		r.wrong("panic", "%s", r.srv.stderr)
	}
	r.srv = nil
}

func (r *rig) close() error {
	r.stop()
	if r.model != nil {
		r.model.close()
	}
	r.unmount()
	return os.RemoveAll(r.dir)
}

// healthy lets lathe itself check what is stored.
func (r *rig) healthy() {
	out, err := r.command("db", "check").CombinedOutput()
	if err != nil {
		r.wrong("damage", "db check: %v: %s", err, out)
	}
	r.count("checks of the whole store", 1)
}

// leftovers looks for files that nobody needs any more.
func (r *rig) leftovers() {
	for _, u := range r.users {
		_ = filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasPrefix(d.Name(), ".lathe-") {
				r.wrong("leftover", "%s", path)
			}
			return nil
		})
	}
}

// tail keeps the end of what a process says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - 16<<10; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

var _ io.Writer = (*tail)(nil)
