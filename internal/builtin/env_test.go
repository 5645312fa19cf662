package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lathe"
	"lathe/internal/store/local"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// rig is a repository, the tools over it, and what they asked and told.
type rig struct {
	outputs string // see tool.Call
	t       testing.TB
	dir     string
	env     Env
	tools   *tool.Registry

	mu       sync.Mutex
	asks     []tool.Request
	deny     func(tool.Request) error
	given    bool // an answer covers what is asked for next
	reading  tool.Reading
	events   []lathe.Event
	progress []map[string]any
	todos    map[lathe.SessionID][]lathe.Todo
	messages []lathe.Message
	message  lathe.MessageID
}

func (r *rig) Todos(_ context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	return r.todos[id], nil
}

func (r *rig) SetTodos(_ context.Context, id lathe.SessionID, todos []lathe.Todo) error {
	r.todos[id] = todos
	return nil
}

func newRig(t testing.TB, change ...func(*Env)) *rig {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "repo")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "init", "-q", dir)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	root, err := workspace.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(base, "data")
	r := &rig{t: t, dir: dir, todos: map[lathe.SessionID][]lathe.Todo{}, message: "msg_1"}
	r.env = Env{
		Places:   Places{Root: root, DataDir: data, Home: base},
		Commands: Commands{Shell: "/bin/bash", ShellEnv: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base}},
		Limits:   &tool.Limits{Outputs: local.Outputs{Dir: filepath.Join(data, local.OutputsDir)}}, Seen: &tool.Seen{}, Todos: r,
		Publish: func(ev lathe.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, ev)
		},
	}
	for _, c := range change {
		c(&r.env)
	}
	r.tools = tool.NewRegistry(New(r.env)...)
	return r
}

func (r *rig) call(input any) *tool.Call {
	r.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		r.t.Fatal(err)
	}
	return &tool.Call{
		SessionID: "ses_1", MessageID: r.message, CallID: "call_1", Agent: "build", Input: raw, Messages: r.messages, Outputs: r.outputs,
		Ask: func(_ context.Context, req tool.Request) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, one := range append([]tool.Request{req}, req.Also...) {
				one.Also = nil
				r.asks = append(r.asks, one)
				if r.deny != nil && r.deny(one) != nil {
					return r.deny(one)
				}
			}
			if req.Next != nil {
				req.Next.Given = r.given
			}
			return nil
		},
		Reading: r.reads(),
		Progress: func(_ string, meta map[string]any) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.progress = append(r.progress, meta)
		},
	}
}

func (r *rig) reads() func() tool.Reading {
	if r.reading == nil {
		return nil
	}
	return func() tool.Reading { return r.reading }
}

type m = map[string]any

// run calls a tool as a turn does: checked, run, cut.
func (r *rig) run(name string, input any) (tool.Result, error) {
	r.t.Helper()
	return r.runContext(r.t.Context(), name, input)
}

func (r *rig) runContext(ctx context.Context, name string, input any) (tool.Result, error) {
	r.t.Helper()
	t, ok := r.tools.Lookup(name)
	if !ok {
		r.t.Fatalf("no tool %q", name)
	}
	call := r.call(input)
	checked, err := r.tools.Check(name, call.Input)
	if err != nil {
		return tool.Failf("%s", err), nil
	}
	call.Input = checked
	res, err := t.Run(ctx, call)
	if err != nil {
		return res, err
	}
	return r.env.Limits.Apply(res, false), nil
}

// ok calls a tool that must succeed.
func (r *rig) ok(name string, input any) tool.Result {
	r.t.Helper()
	res, err := r.run(name, input)
	if err != nil || res.Failed {
		r.t.Fatalf("%s failed: %v\n%s", name, err, res.Output)
	}
	return res
}

// fails calls a tool that must fail with a message that contains the words.
func (r *rig) fails(name string, input any, words string) {
	r.t.Helper()
	res, err := r.run(name, input)
	if err != nil || !res.Failed || !strings.Contains(res.Output, words) {
		r.t.Fatalf("%s: failed %v, error %v, want failure with %q:\n%s", name, res.Failed, err, words, res.Output)
	}
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *rig) put(name, content string) string {
	r.t.Helper()
	path := r.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *rig) get(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// asked returns the asks since the last time as "permission pattern…" lines.
func (r *rig) asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, a := range r.asks {
		line := a.Permission + " " + strings.Join(a.Patterns, " | ")
		if a.Metadata[tool.MetaProtected] == true {
			line += " !"
		}
		if !slices.Equal(a.Always, []string{"*"}) {
			line += fmt.Sprintf(" %q", a.Always)
		}
		out = append(out, line)
	}
	r.asks = nil
	return out
}

var errDenied = errors.New("denied")

// denies makes asks for one permission fail.
func denies(permission string) func(tool.Request) error {
	return func(req tool.Request) error {
		if req.Permission == permission {
			return errDenied
		}
		return nil
	}
}
