package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/config"
	"lathe/internal/enginetest"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/share"
	"lathe/internal/trust"
	"lathe/internal/turn"
	"lathe/internal/workspace"
)

// world is a person's machine: a home, a repository in git, a clock.
type world struct {
	t    testing.TB
	home string
	repo string
	env  map[string]string
	opts instance.Options
	bus  *bus.Bus

	sharing share.Remote

	mu     sync.Mutex
	now    time.Time
	system []string // of the newest request with tools
	tools  []string // their names
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "repo"), bus: bus.New(bus.Options{}),
		now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
	}
	w.env = map[string]string{"HOME": w.home, "LATHE_HOME": filepath.Join(w.home, "lathe"), "PATH": os.Getenv("PATH")}
	paths, err := config.DefaultPaths(w.getenv)
	if err != nil {
		t.Fatal(err)
	}
	w.opts = instance.Options{
		Paths: paths, Getenv: w.getenv, Log: slog.New(slog.DiscardHandler), Now: w.clock,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home},
		Publish: func(dir string, ev lathe.Event) { w.bus.Publish(dir, ev) },
		Trust:   trust.Open(filepath.Join(paths.Data, "trust.json")),
	}
	w.write(map[string]string{"home/x": "", "repo/main.go": "package main\n"})
	w.git("init", "-q")
	w.git("add", "main.go")
	w.git("commit", "-q", "-m", "first")
	return w
}

func (w *world) getenv(name string) string { return w.env[name] }

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) sleep(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// git runs git in the repository as a person who has no configuration.
func (w *world) git(args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com"}, args...)...)
	cmd.Dir = w.repo
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// write makes files below the world's directory; "-> x" makes a link to x.
func (w *world) write(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		path := filepath.Join(filepath.Dir(w.repo), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		_ = os.Remove(path)
		var err error
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(to, path)
		} else {
			err = errors.Join(os.WriteFile(path, []byte(text), 0o755), os.Chmod(path, 0o755)) // whatever the umask
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) instance() *instance.Instance {
	w.t.Helper()
	inst, err := instance.Open(w.t.Context(), w.repo, w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return inst
}

// trust trusts the repository as it is.
func (w *world) trust() {
	w.t.Helper()
	c, err := instance.FindCheckout(w.t.Context(), w.repo, w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	files, err := c.Scan(w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.opts.Trust.Add(w.t.Context(), trust.Decision{Dir: c.Dir, Project: c.Project, Files: files}); err != nil {
		w.t.Fatal(err)
	}
}

// service opens a service on the world's store, as a new process does.
func (w *world) service() (s *session.Service, stop func()) {
	w.t.Helper()
	e, err := enginetest.Open(w.t.Context(), enginetest.Options{Env: w.env, Instance: w.opts, Session: session.Options{Bus: w.bus, Sharing: w.sharing}})
	if err != nil {
		w.t.Fatal(err)
	}
	return e.Service, func() {
		if err := e.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

// oneCall is a model that calls a tool with what the user said, then stops.
type oneCall struct{ tool, key string }

func (m oneCall) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		last := req.Messages[len(req.Messages)-1]
		text, isText := last.Content[0].(llm.Text)
		events := []llm.Event{llm.TextStart{ID: "t"}, llm.TextDelta{ID: "t", Text: "done"}, llm.TextEnd{ID: "t"}, llm.Finish{Reason: llm.FinishStop}}
		if isText && len(req.Tools) > 0 {
			raw, err := json.Marshal(map[string]any{m.key: text.Text, "description": "does it"})
			if err != nil {
				yield(nil, err)
				return
			}
			events = []llm.Event{llm.ToolStart{ID: "c", CallID: "c", Name: m.tool},
				llm.ToolEnd{ID: "c", CallID: "c", Name: m.tool, Input: string(raw)}, llm.Finish{Reason: llm.FinishToolCalls}}
		}
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// playing returns a service whose model is m; what it is sent is kept.
func (w *world) playing(m llm.Model) (*session.Service, func()) {
	w.opts.Builtin = func(ref lathe.ModelRef) (llm.Model, bool) { return keep{m, w}, ref.Provider == "script" }
	return w.service()
}

// keep notes the system prompt of requests that offer tools.
type keep struct {
	llm.Model
	w *world
}

func (k keep) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	if len(req.Tools) > 0 {
		k.w.mu.Lock()
		k.w.system, k.w.tools = req.System, nil
		for _, tool := range req.Tools {
			k.w.tools = append(k.w.tools, tool.Name)
		}
		k.w.mu.Unlock()
	}
	return k.Model.Stream(ctx, req)
}

func (w *world) create(s *session.Service) lathe.SessionID {
	w.t.Helper()
	sess, err := s.Create(w.t.Context(), session.Create{Directory: w.repo, Title: "named"})
	if err != nil {
		w.t.Fatal(err)
	}
	return sess.ID
}

// ask runs a prompt to its end.
func (w *world) ask(s *session.Service, id lathe.SessionID, text string) turn.Outcome {
	w.t.Helper()
	_, run, err := s.Prompt(w.t.Context(), id, session.Prompt{
		Model: lathe.ModelRef{Provider: "script", Model: "x"}, Parts: []lathe.PartBody{&lathe.Text{Text: text}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := run.Wait(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}
