// Package host runs plugins that are written in JavaScript or TypeScript: one process for
// a directory, under bun or node, which is started when a plugin is first needed.
//
// What goes wrong in such a process stays there. A hook has a time limit; if it hangs, or
// its process dies, it counts as not called, and the process is started again, after a
// longer delay each time. It ends with lathe.
//
// host.go starts the process and calls it; conn.go is the connection over its pipes, and the
// door in door.go answers what the process asks of lathe. source.go lists plugins, install.go fetches packages
// and runtime.go finds the program. hooks.go, tools.go, models.go and login.go are what plugins
// offer. The program that runs them is in js.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"lathe/internal/plugin"
	"lathe/internal/plugin/jsonhook"
	"lathe/internal/shell"
)

const (
	// DefaultLimit is how long a hook may take.
	DefaultLimit = 5 * time.Second

	startLimit  = 20 * time.Second // until the process speaks
	pluginLimit = 15 * time.Second // for one plugin to start
	loadLimit   = 90 * time.Second // for all of them
	pingLimit   = time.Second
	closeGrace  = 2 * time.Second
	firstDelay  = 500 * time.Millisecond // before the process is started again
	lastDelay   = 30 * time.Second
	settledTime = time.Minute // after which a process counts as healthy
	minNode     = 22
)

// Runner starts programs; a [shell.Runner] does.
type Runner interface {
	Open(p shell.Program) (*shell.Service, error)
}

// Options say what a host works with.
type Options struct {
	Dir, Worktree string
	Project       any // in OpenCode's format
	Runner        Runner
	Env           []string // environment of the process; its PATH has the runtime
	Cache, Data   string   // lathe's directories
	// Door answers the requests of the client that plugins are given; nil: none are answered.
	Door http.RoundTripper
	// Credential returns the stored credential of a login, in OpenCode's format; nil: none.
	Credential func(provider string) any
	Describe   jsonhook.Describe
	Limit      time.Duration // time limit of a hook; 0: [DefaultLimit]
	Scripts    bool          // installs may run the packages' scripts
	Offline    bool          // nothing is fetched
	Log        *slog.Logger  // nil: none
	// Tell tells the person something; nil: nobody is told.
	Tell func(text string)
	// Report gets what a plugin did wrong outside of a hook; nil: nobody does.
	Report func(plugin string, err error)
	// Watch gets every call of a hook or a tool; nil: nobody watches.
	Watch func(w Watched)
}

// Host is the process of a directory's plugins. It is safe for concurrent use. Close it.
type Host struct {
	o        Options
	sources  []Source
	packages Packages

	mu      sync.Mutex
	live    *conn
	load    json.RawMessage // what the process is told to load; nil before [Host.Start]
	key     string          // stands for the plugins as they are; set by [Host.Start]
	told    []Plugin        // by index
	changed map[string]json.RawMessage
	fails   int
	notNow  time.Time // when the process may be started again
	why     error     // why it is not running
	closed  bool
	opened  chan struct{} // closed when the directory can answer requests

	calls calls
}

// Plugin is what became of one of the sources.
type Plugin struct {
	Source
	Hooks     []string
	Tools     []Tool
	Auth      []Login
	Providers []string // providers whose models it makes
	Config    bool     // it changes the configuration
	Late      bool     // it was not ready when the others were
	Error     string   // why it does not work, or not completely

	waited bool // it was known before, and is not ready again yet
}

func (p *Plugin) silent() bool { return len(p.Hooks) == 0 && len(p.Tools) == 0 && len(p.Auth) == 0 }

// New returns the host of some plugins. Nothing is started.
func New(sources []Source, o Options) *Host {
	o = o.complete()
	return &Host{o: o, sources: sources, packages: Packages{o}, opened: make(chan struct{})}
}

// complete fills in what may be left out.
func (o Options) complete() Options {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	if o.Report == nil {
		o.Report = func(string, error) {}
	}
	return o
}

// Open lets the requests of plugins in. Until then the instance is being made, and
// they wait.
func (h *Host) Open() { close(h.opened) }

// Start starts the process and loads the plugins, installing what is missing.
// [Host.Plugins] says which could not be installed or loaded; an error means that
// none could. Config is the configuration that they may change.
func (h *Host) Start(ctx context.Context, config json.RawMessage) error {
	if _, err := Runtime(h.o.Env); err != nil {
		h.listed(err)
		return err // do not install anything in vain
	}
	ready := h.resolve(ctx)
	params := loadParams{
		Directory: h.o.Dir, Worktree: h.o.Worktree, Project: h.o.Project, ServerURL: ServerURL, Config: config, Plugins: ready,
	}
	params.Modules, params.Roots = h.shared(ctx)
	load, err := json.Marshal(params)
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.load = load
	h.mu.Unlock()
	if h.recall(params) {
		return nil
	}
	_, err = h.connection(ctx)
	return err
}

// ServerURL is the address given to plugins. No program listens there: requests to it
// go through the host's pipe.
const ServerURL = "http://lathe.localhost"

type loadParams struct {
	Directory string          `json:"directory"`
	Worktree  string          `json:"worktree"`
	Project   any             `json:"project"`
	ServerURL string          `json:"serverUrl"`
	Config    json.RawMessage `json:"config"`
	Plugins   []loadPlugin    `json:"plugins"`
	Modules   string          `json:"modules"`
	Roots     []root          `json:"roots"`
}

type loadPlugin struct {
	Name    string         `json:"name"`
	Kind    string         `json:"kind"`
	File    string         `json:"file"`
	Options map[string]any `json:"options,omitempty"`
	Limit   int64          `json:"limit"` // ms
}

type root struct {
	Dir     string `json:"dir"`
	Modules string `json:"modules"`
}

// Plugins returns what is known about the plugins, in order.
func (h *Host) Plugins() []Plugin {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]Plugin, len(h.told))
	copy(out, h.told)
	return out
}

// Config returns the top-level keys of the configuration that plugins changed.
func (h *Host) Config() map[string]json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// Runtime says what the plugins run under, "node 22.1.0"; empty while nothing runs.
func (h *Host) Runtime() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.live == nil {
		return ""
	}
	return h.live.runtime
}

// PID is the process, or 0.
func (h *Host) PID() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.live == nil {
		return 0
	}
	return h.live.svc.PID()
}

// connection returns the running process, starting it if that may be done now.
func (h *Host) connection(ctx context.Context) (*conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, &plugin.NotCalled{Why: "the plugins have been ended"}
	case h.live != nil && !h.live.over():
		return h.live, nil
	case h.load == nil:
		return nil, &plugin.NotCalled{Why: "the plugins have not been started"}
	}
	if h.live != nil {
		h.died()
	}
	if time.Now().Before(h.notNow) {
		return nil, &plugin.NotCalled{Why: fmt.Sprintf("the plugins' process has died (%v) and is started again later", h.why)}
	}
	c, err := h.start(ctx)
	if err != nil {
		h.why = err
		h.putOff()
		return nil, &plugin.NotCalled{Why: err.Error()}
	}
	h.live = c
	return c, nil
}

// died notes that the process is gone. The caller holds mu.
func (h *Host) died() {
	c := h.live
	h.live, h.why = nil, c.why()
	if time.Since(c.begun) > settledTime {
		h.fails = 0
	}
	h.putOff()
	h.o.Log.Warn("the plugins' process died", "dir", h.o.Dir, "err", h.why)
	if h.fails == 1 {
		go h.o.Tell(fmt.Sprintf("the plugins' process died: %v; its hooks are not called until it runs again", h.why))
	}
}

func (h *Host) putOff() {
	delay := min(firstDelay<<min(h.fails, 10), lastDelay)
	h.fails++
	h.notNow = time.Now().Add(delay)
}

// start starts the process and loads the plugins. The caller holds mu.
func (h *Host) start(ctx context.Context) (*conn, error) {
	args, env, err := h.command()
	if err != nil {
		return nil, err
	}
	svc, err := h.o.Runner.Open(shell.Program{Args: args, Dir: h.o.Dir, Env: env, Kind: shell.KindPlugin, Stderr: h.printed})
	if err != nil {
		return nil, err
	}
	c := newConn(svc, h)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadLimit)
	defer cancel()
	if err := h.greet(ctx, c); err != nil {
		c.end(err)
		return nil, err
	}
	raw, err := c.call(ctx, "load", h.load)
	if err != nil {
		c.end(err)
		return nil, fmt.Errorf("load the plugins: %w", err)
	}
	var loaded struct {
		Plugins []toldPlugin               `json:"plugins"`
		Config  map[string]json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(raw, &loaded); err != nil {
		c.end(err)
		return nil, fmt.Errorf("load the plugins: %w", err)
	}
	for _, t := range loaded.Plugins {
		if i := h.position(t.Index); i >= 0 {
			h.told[i].waited = t.Late && !h.told[i].silent()
		}
		h.learn(t)
	}
	if h.changed == nil {
		h.changed = loaded.Config
	}
	h.await(ctx, c)
	h.remember()
	return c, nil
}

func (h *Host) greet(ctx context.Context, c *conn) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	select {
	case <-c.hello:
		return c.usable()
	case <-c.done:
		return fmt.Errorf("the plugins' process did not start: %w", c.why())
	case <-ctx.Done():
		return errors.New("the plugins' process does not answer")
	}
}

// printed writes what plugins print to the log.
func (h *Host) printed(chunk []byte) {
	h.o.Log.Debug("plugins printed", "dir", h.o.Dir, "text", string(chunk[:min(len(chunk), 4096)]))
}

// call makes the process do something within the hooks' limit. A process that no
// longer answers at all is ended.
func (h *Host) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return h.callWithin(ctx, h.o.Limit, method, params)
}

func (h *Host) callWithin(ctx context.Context, limit time.Duration, method string, params any) (json.RawMessage, error) {
	c, err := h.connection(ctx)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeoutCause(ctx, limit, errLimit)
	defer cancel()
	raw, err := c.call(within, method, params)
	if err == nil || !errors.Is(err, errLimit) {
		return raw, err
	}
	h.look(c)
	return nil, &plugin.NotCalled{Why: fmt.Sprintf("it took longer than %s", limit)}
}

var errLimit = errors.New("the hook took longer than the time limit")

// look ends a process that does not answer the simplest request.
func (h *Host) look(c *conn) {
	ctx, cancel := context.WithTimeout(context.Background(), pingLimit)
	defer cancel()
	if _, err := c.call(ctx, "ping", struct{}{}); err != nil && !c.over() {
		c.end(errors.New("a plugin blocked it, so it was ended"))
	}
}

// Close lets the plugins shut down, and ends the process. It may be called twice.
func (h *Host) Close() error {
	h.mu.Lock()
	c := h.live
	h.closed, h.live = true, nil
	h.mu.Unlock()
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if !c.over() {
		_, _ = c.call(ctx, "dispose", struct{}{})
	}
	c.end(io.EOF)
	return nil
}
