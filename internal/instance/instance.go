package instance

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/builtin"
	"lathe/internal/catalog"
	"lathe/internal/config"
	"lathe/internal/netguard"
	"lathe/internal/permission"
	"lathe/internal/plugin"
	"lathe/internal/provider"
	"lathe/internal/reading"
	"lathe/internal/shell"
	"lathe/internal/tool"
	"lathe/internal/trust"
	"lathe/internal/workspace"
)

// Instance is what belongs to one directory: its project, configuration, models,
// agents, tools and pending asks. Its exported fields do not change.
type Instance struct {
	Root       workspace.Root
	Project    lathe.Project
	Paths      config.Paths
	Config     *config.Config
	Models     *provider.Registry
	Agents     []Agent
	Tools      *tool.Registry
	Permission *permission.Service
	Grants     Grants     // what "always" replies allowed
	Seen       *tool.Seen // what the sessions have read
	Trust      Trust

	Shell  Shell        // how commands run here
	Limits *tool.Limits // of what tools print
	Hooks  *plugin.Chain

	rulePaths permission.Paths
	links     *reading.Links
	sessions  Sessions
	undo      undo
	AtStart   []Skill // when the instance was made
	search    bool    // web searches are on for every model
	patching  func() *tool.Registry

	onClose       []func()
	skillProblems []error

	Log  *slog.Logger
	http *http.Client // for instructions

	mu     sync.Mutex
	models map[lathe.ModelRef]*provider.Model
}

// Model returns a model that can be called. It stays the same for the life of
// the instance, and so do its connections.
func (i *Instance) Model(ref lathe.ModelRef) (*provider.Model, error) {
	ref.Variant = ""
	i.mu.Lock()
	defer i.mu.Unlock()
	if m := i.models[ref]; m != nil {
		return m, nil
	}
	m, err := i.Models.Lookup(ref)
	if err == nil {
		i.models[ref] = m
	}
	return m, err
}

// Shell is how commands run in a directory.
type Shell struct {
	Path   string   // the shell program
	Env    []string // the environment of commands
	Runner *shell.Runner
}

// Sessions is what the tools of an instance need of the sessions they run in.
type Sessions interface {
	// Spawn runs a subagent in a session of its own and returns when it ended. The
	// end of ctx aborts it, and is waited for.
	Spawn(ctx context.Context, i *Instance, in builtin.SpawnInput) (builtin.SpawnResult, error)
	// Ask puts the questions of a tool call to the user and waits. A dismissed
	// question is a *[builtin.Dismissed]; the end of ctx withdraws it.
	Ask(ctx context.Context, i *Instance, call *tool.Call, list []lathe.Question) ([][]string, error)
	// SwitchAgent makes the session of a call go on with another agent.
	SwitchAgent(ctx context.Context, i *Instance, call *tool.Call, agent string) error
	// History yields the messages of a session before one, newest first.
	History(ctx context.Context, id lathe.SessionID, before int64) iter.Seq2[lathe.Message, error]
}

// Serve gives the tools the sessions that they run in. It is called once, before
// the instance is used.
func (i *Instance) Serve(s Sessions) { i.sessions = s }

// Options say what instances are made of.
type Options struct {
	Paths   config.Paths
	Getenv  func(string) string
	Environ []string // what commands inherit
	Auth    *auth.Store
	Catalog *catalog.Catalog
	HTTP    *http.Client // for models, organisations and web fetches; nil: their own
	Log     *slog.Logger
	Now     func() time.Time
	Runner  *shell.Runner
	Todos   builtin.Todos
	Publish func(dir string, ev lathe.Event)
	IDs     *lathe.IDs
	// Builtin makes the models that need no provider.
	Builtin provider.BuiltinModels
	// Trusted says whether the repository may steer this process, whatever is
	// stored; nil: no.
	Trusted func(workspace.Root) bool
	// Trust holds the person's decisions; nil: there are none.
	Trust *trust.Store
	// Approvals holds what the person approved for good; nil: nothing is kept.
	Approvals Approvals
	// Hooks are what plugins take part in; nil: nothing.
	Hooks *plugin.Chain
	// Own is where this process and its like listen, which no tool may reach.
	Own *netguard.Listeners
	// Secrets names the variables that commands must not see.
	Secrets []string
}

// Open makes the instance of a directory.
func Open(ctx context.Context, dir string, o Options) (*Instance, error) {
	checkout, err := FindCheckout(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	root := checkout.Root
	conf, trusted, err := checkout.LoadConfig(ctx, o)
	if err != nil {
		return nil, err
	}
	inst := &Instance{
		Root: root, Paths: o.Paths, Config: conf, Trust: trusted, Log: o.Log, http: http.DefaultClient,
		Project: lathe.Project{ID: checkout.Project, Worktree: root.Worktree, VCS: root.VCS, Created: o.Now(), Updated: o.Now()},
		models:  map[lathe.ModelRef]*provider.Model{},
	}
	inst.Models, err = provider.New(provider.Options{
		Config: conf, Auth: o.Auth, Catalog: o.Catalog, Getenv: o.Getenv, HTTP: o.HTTP, Now: o.Now,
		Builtin: o.Builtin, Dir: root.Dir,
	})
	if err != nil {
		return nil, fmt.Errorf("providers: %w", err)
	}
	inst.equip(ctx, o)
	return inst, nil
}

// equip gives the instance its agents, tools and permission service.
func (i *Instance) equip(ctx context.Context, o Options) {
	limits := &tool.Limits{
		Dir: filepath.Join(i.Paths.Data, tool.SpillDir), MaxLines: i.Config.ToolOutput.MaxLines, MaxBytes: i.Config.ToolOutput.MaxBytes,
	}
	i.AtStart = i.findInstanceSkills()
	i.rulePaths = permission.Paths{
		Readable:   skillDirs(i.AtStart),
		ToolOutput: filepath.Join(i.Paths.Data, tool.SpillDir),
		Plans:      filepath.Join(i.Paths.Data, "plans"),
	}
	i.Agents = resolveAgents(i.Config, i.rulePaths)
	i.leaveOutLeaders()
	i.links = reading.NewLinks(i.Root, o.Now, secretFiles(i.Paths)...)
	publish := func(ev lathe.Event) { o.Publish(i.Root.Dir, ev) }
	asks := i.permissionOptions(ctx, o)
	asks.Decide = i.decide
	i.Permission = permission.New(asks)
	i.Grants = Grants{asks: i.Permission, store: o.Approvals, owner: i.ApprovalOwner()}
	env := i.commandEnv(o)
	i.Shell.Path = i.Config.Shell
	if i.Shell.Path == "" {
		i.Shell.Path = shell.Choose(env)
	}
	i.Seen = &tool.Seen{Off: i.Config.Flags.DisableFiletimeCheck}
	i.offer(builtin.Env{
		Root: i.Root, Home: i.Paths.Home, DataDir: i.Paths.Data,
		Private: []string{i.Paths.Config, i.Paths.State, i.Paths.OpenCodeConfig, i.Paths.OpenCodeData},
		Shell:   i.Shell.Path, ShellEnv: env, Runner: o.Runner, BashTimeout: i.Config.Flags.BashDefaultTimeout(),
		Limits: limits, Seen: i.Seen, HTTP: o.HTTP, Own: o.Own, Todos: o.Todos, Publish: publish, Now: o.Now,
		Known: i.knownInstruction,
	}, o)
}

// knownInstruction reports whether a file is part of the system prompt already.
func (i *Instance) knownInstruction(path string) bool {
	for _, f := range i.instructionFiles() {
		if f == path {
			return true
		}
	}
	return false
}

// OnClose has a function called when the instance is closed. It is to be called
// before the instance is used.
func (i *Instance) OnClose(f func()) { i.onClose = append(i.onClose, f) }

// Close ends what the instance keeps waiting.
func (i *Instance) Close() error {
	for _, f := range i.onClose {
		f()
	}
	i.Permission.Close()
	return i.undo.close()
}
