package instance

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/builtin"
	"lathe/internal/catalog"
	"lathe/internal/config"
	"lathe/internal/job"
	"lathe/internal/keyring"
	"lathe/internal/lsp"
	"lathe/internal/mcp"
	"lathe/internal/netguard"
	"lathe/internal/permission"
	"lathe/internal/plugin"
	"lathe/internal/plugin/host"
	"lathe/internal/provider"
	"lathe/internal/reading"
	"lathe/internal/sandbox"
	"lathe/internal/sandbox/registry"
	"lathe/internal/shell"
	"lathe/internal/store"
	"lathe/internal/store/local"
	"lathe/internal/tool"
	"lathe/internal/trust"
	"lathe/internal/turn"
	"lathe/internal/workspace"
)

// Instance is what belongs to one directory. Its contents do not change.
//
// It is a list, which is why it has so many fields: each is one subject with a type of its
// own, and callers take the one they need. Its own methods only connect them.
type Instance struct {
	*place       // Root, Paths, Config and Trust
	Project      lathe.Project
	Models       *Models
	StandIns     *turn.StandIns // answer where a model's provider is down; nil: nobody does
	Agents       *Agents
	Tools        *Tools
	Skills       *Skills
	Instructions *Instructions
	Commands     *Commands
	Parts        *Parts // what starts and closes with it
	MCP          *mcp.Servers
	Imports      *Imports // of MCP servers, from other programs' files
	Languages    *Languages
	Permission   *permission.Service
	Readable     *Readable  // which files may be shown
	Grants       Grants     // what "always" replies allowed
	Seen         *tool.Seen // what the sessions have read
	Shell        *Shell
	Surroundings *Surroundings // what a session finds when it starts
	Confinement  *Confinement  // what its processes may do
	Limits       *tool.Limits  // of what tools print
	Hooks        *plugin.Chain
	Plugins      *Plugins // nil: there are none
	Log          *slog.Logger

	sessions Sessions
	troubles *troubles
	install  func() (host.Options, error) // what packages of plugins are installed with
	closing  []func()
	trees    *snapshots
	ways     *serverWays
	programs serverPrograms
}

// Shell is how commands run in a directory.
type Shell struct {
	Path   string   // the shell program
	Env    []string // the environment of commands
	Runner *shell.Runner
	Own    []string // that of the person's own commands
	// HeldBack names the person's variables that commands do not get, since they look
	// like secrets.
	HeldBack []string
	// Scratch is a directory for files that do not belong in the project: tools may use
	// it without asking, and old files in it are removed. It is made when a command
	// first runs.
	Scratch string
}

// Sessions is what the tools of an instance need from the sessions they run in.
type Sessions interface {
	// Spawn runs a subagent in a session of its own and returns when it has ended.
	// The end of ctx aborts it, and Spawn waits for that.
	Spawn(ctx context.Context, i *Instance, in builtin.SpawnInput) (builtin.SpawnResult, error)
	// Ask puts the questions of a tool call to the user and waits. A dismissed
	// question is a *[builtin.Dismissed]; the end of ctx withdraws it.
	Ask(ctx context.Context, i *Instance, call *tool.Call, list []lathe.Question) ([][]string, error)
	// SwitchAgent makes the session of a call go on with another agent.
	SwitchAgent(ctx context.Context, i *Instance, call *tool.Call, agent string) error
	// History yields the messages of a session before one, newest first.
	History(ctx context.Context, id lathe.SessionID, before int64) iter.Seq2[lathe.Message, error]
	// Sample has the model of a call's session answer a server, and counts its cost.
	Sample(ctx context.Context, i *Instance, call *tool.Call, in mcp.Sampling) (mcp.Sampled, error)
	// JobOwner returns the session that the jobs of a session's calls belong to.
	JobOwner(ctx context.Context, id lathe.SessionID) lathe.SessionID
	// Abort stops the turn of a session and waits for its end.
	Abort(ctx context.Context, id lathe.SessionID) error
}

// Serve gives the tools access to their sessions. Call it once, before the
// instance is used.
func (i *Instance) Serve(s Sessions) {
	i.sessions = s
	if i.Plugins != nil {
		i.Plugins.Open()
	}
}

// Options say what instances are made of: everything that instances of a process share or
// are given from outside, which is why there are so many.
type Options struct {
	Paths   config.Paths
	Getenv  func(string) string
	Environ []string // what commands inherit
	Auth    *auth.Store
	// Keys, if set, are those that people have for providers.
	Keys    *keyring.Ring
	Catalog *catalog.Catalog
	HTTP    *http.Client // for models, organisations and web fetches; nil: their own
	Log     *slog.Logger
	Now     func() time.Time
	Runner  *shell.Runner
	Sandbox sandbox.Options // of confined processes
	Jobs    *job.Manager    // nil: no process lives on
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
	// Allowances, when set, holds all that people allowed, for servers that share it.
	Allowances store.Allowances
	// Hooks take part in the sessions of every directory; nil: none. The hooks
	// configured for a directory come after them.
	Hooks *plugin.Chain
	// Door lets plugins reach this engine; nil: they cannot.
	Door Door
	// Own is where this process and others like it listen; no tool may reach that.
	Own *netguard.Listeners
	// Buffers has the files of sessions that an editor drives; nil: there are none.
	Buffers *tool.Buffers
	// Connect is the command line that connects standard input and output to a host and
	// port through the commands' proxy; see [proxy.Connect]. Empty: there is none.
	Connect []string
	// Languages owns the language servers of the process; nil: there are none.
	Languages *lsp.Pool
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
		place: &place{Root: root, Paths: o.Paths, Config: conf, Trust: trusted, log: o.Log},
		Log:   o.Log, Parts: &Parts{}, Shell: &Shell{},
		Project: lathe.Project{ID: checkout.Project, Worktree: root.Worktree, VCS: root.VCS, Created: o.Now(), Updated: o.Now()},
	}
	inst.troubles = newTroubles(root.Dir, o)
	inst.Confinement = inst.confinement(o)
	inst.install = func() (host.Options, error) { return inst.hostOptions(inst.PluginSources(), o) }
	if inst.Plugins, err = startPlugins(ctx, inst, o); err != nil {
		return nil, err
	}
	conf = inst.Config
	if inst.Plugins != nil {
		if err := inst.Parts.Add(inst.Plugins); err != nil {
			return nil, errors.Join(err, inst.Plugins.Close())
		}
		if err := inst.Parts.Start(ctx, inst.Plugins.Name()); err != nil {
			return nil, errors.Join(err, inst.Plugins.Close())
		}
	}
	providers := provider.Options{
		Config: conf, Auth: o.Auth, Catalog: o.Catalog, Getenv: o.Getenv, HTTP: o.HTTP, Now: o.Now,
		Builtin: o.Builtin, Dir: root.Dir, Loaders: inst.Plugins.loaders(),
	}
	models, err := provider.New(providers)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("providers: %w", err), inst.Parts.Close())
	}
	inst.trees = &snapshots{open: inst.openSnapshots}
	if err := inst.Parts.Add(inst.trees); err != nil {
		return nil, err
	}
	inst.Models = newModels(models, newOwnModels(o.Keys, providers))
	inst.StandIns = inst.Models.standIns(inst.Config)
	inst.equip(ctx, o)
	if err := inst.connectServers(o); err != nil {
		return nil, err
	}
	return inst, nil
}

// equip gives the instance its agents, tools and permission service.
func (i *Instance) equip(ctx context.Context, o Options) {
	limits := &tool.Limits{
		Outputs:  local.Outputs{Dir: filepath.Join(i.Paths.Data, local.OutputsDir)},
		MaxLines: i.Config.ToolOutput.MaxLines, MaxBytes: i.Config.ToolOutput.MaxBytes,
	}
	i.Readable = &Readable{root: i.Root, links: reading.NewLinks(i.Root, o.Now, secretFiles(i.Paths)...)}
	i.reading = i.Readable.Usual
	i.Skills = newSkills(i.place)
	i.Shell.Scratch = scratchDir(i.Paths.Cache, i.Root.Dir)
	paths := permission.Paths{
		Readable:   skillDirs(i.Skills.Started()),
		ToolOutput: filepath.Join(i.Paths.Data, local.OutputsDir),
		Plans:      filepath.Join(i.Paths.Data, "plans"),
		Temp:       i.Shell.Scratch,
	}
	i.Agents = newAgents(i.Config, paths)
	i.Readable.usual = func() permission.Policy { return i.Agents.Persons().Policy() }
	i.Instructions = &Instructions{place: i.place, http: http.DefaultClient}
	i.Commands = &Commands{place: i.place, skills: i.Skills, shell: i.Shell}
	i.Tools = &Tools{agents: i.Agents}
	publish := func(ev lathe.Event) { o.Publish(i.Root.Dir, ev) }
	asks := i.permissionOptions(ctx, o)
	asks.Decide, asks.Usual, asks.Reports = i.decide, i.usualHosts(), registry.Reports
	i.Permission = permission.New(asks)
	i.Readable.asks = i.Permission
	i.Grants = Grants{asks: i.Permission, store: o.Approvals, owner: i.ApprovalOwner(), shared: i.sharedApprovals(o)}
	if o.Runner != nil {
		o.Runner = o.Runner.Confined(i.Confinement.confine)
	}
	env := i.commandEnv(o)
	i.Shell.Path = i.Config.Shell
	if i.Shell.Path == "" {
		i.Shell.Path = shell.Choose(env)
	}
	net := i.newNetwork(o, env)
	i.ways = i.serverWays(o, net)
	i.Surroundings = newSurroundings(i.place, i.Shell)
	i.BeforeClose(i.Surroundings.uncommitted.close)
	i.Languages = i.newLanguages(o, env, publish)
	i.Seen = &tool.Seen{Off: i.Config.Flags.DisableFiletimeCheck}
	i.offer(builtin.Env{
		Places: builtin.Places{
			Root: i.Root, Home: i.Paths.Home, DataDir: i.Paths.Data,
			Private: []string{i.Paths.Config, i.Paths.State, i.Paths.OpenCodeConfig, i.Paths.OpenCodeData},
		},
		Commands: builtin.Commands{
			Shell: i.Shell.Path, ShellEnv: env, HeldBack: i.Shell.HeldBack, Processes: i.Confinement.Processes(), Memory: i.Config.Limits.Memory, Scratch: i.Shell.Scratch, Runner: o.Runner, BashTimeout: i.Config.Flags.BashDefaultTimeout(),
			Network: net.commands, Hold: i.Confinement.holder(), Confine: i.Confinement.of,
		},
		Limits: limits, Seen: i.Seen, Buffers: o.Buffers, HTTP: o.HTTP, Own: o.Own, Todos: o.Todos, Publish: publish, Now: o.Now,
		Known: i.Instructions.Known, Format: i.Languages.format(), Languages: i.Languages.servers(), Code: i.Languages.code(),
	}, o)
}

// BeforeClose registers a function to call when the instance is closed, while its
// parts still run. Call it before others use the instance.
func (i *Instance) BeforeClose(f func()) { i.closing = append(i.closing, f) }

// Close ends whatever is waiting on the instance, and its parts.
func (i *Instance) Close() error {
	i.Permission.Close()
	for _, f := range i.closing {
		f()
	}
	err := errors.Join(i.Parts.Close(), i.Confinement.Close())
	i.Hooks.HandOver()
	return err
}
