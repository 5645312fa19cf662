// Package app wires the engine of this process: the store, the catalogue, the runner of
// commands, jobs, the service over them, the log and the upkeep in the background.
//
// Commands reach an engine through package face; only those that serve one, or that are
// about the database itself, hold an app in their hands.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/builtin"
	"lathe/internal/bus"
	"lathe/internal/catalog"
	"lathe/internal/cli/console"
	"lathe/internal/client"
	"lathe/internal/clone"
	"lathe/internal/commit"
	"lathe/internal/config"
	"lathe/internal/forward"
	"lathe/internal/instance"
	"lathe/internal/job"
	"lathe/internal/keyring"
	"lathe/internal/llm"
	"lathe/internal/llm/guide"
	"lathe/internal/llm/script"
	"lathe/internal/lsp"
	"lathe/internal/netguard"
	"lathe/internal/server"
	"lathe/internal/session"
	"lathe/internal/share"
	"lathe/internal/shell"
	"lathe/internal/store"
	"lathe/internal/terminal"
	"lathe/internal/tool"
	"lathe/internal/trust"
	"lathe/internal/turn"
	"lathe/internal/workspace"
)

type Options struct {
	Dir   string
	Trust bool // the repository is trusted for this process
	// attended says that somebody can answer when a tool asks for permission.
	Attended bool
	Store    string         // address of the database; "": what the environment says
	Clones   []*clone.Clone // in which a worker's sessions begin with what is new
	Bare     bool           // there are no files to work on here; workers have them
}

// App is everything that a command works with, wired together, each part a field so that Close
// can end them in reverse order. Close it.
type App struct {
	Env       *console.Env
	Flags     config.Flags
	Paths     config.Paths
	Auth      *auth.Store
	Keys      *keyring.Ring // of people; nil where they have no names
	DB        Database
	Store     *store.Store
	writer    *commit.Writer
	models    *catalog.Catalog
	Bus       *bus.Bus
	Service   *session.Service
	Runner    *shell.Runner
	Jobs      *job.Manager
	Log       *slog.Logger
	level     slog.LevelVar // info unless the environment or the configuration says otherwise
	logTo     *logFile
	Own       netguard.Listeners // of this process, which tools may not reach
	Buffers   tool.Buffers       // of sessions that an editor drives
	languages *lsp.Pool          // language servers
	// attended says that somebody can answer asks.
	attended bool

	decisions  *instance.Decisions // about repositories
	door       pluginDoor
	others     server.Elsewhere // that share the store; may be nil
	forwarder  *forward.Forwarder
	terminals  *terminal.Manager // of clients; nil where no other server shares the store
	bare       bool
	background context.CancelFunc
	wg         sync.WaitGroup
}

// Places returns the directories and credentials, which need no store.
func Places(env *console.Env) (config.Paths, config.Flags, *auth.Store, error) {
	paths, err := config.DefaultPaths(env.Getenv)
	if err != nil {
		return paths, config.Flags{}, nil, lathe.Errorf(lathe.CodeInvalid, "set HOME or LATHE_HOME", "%v", err)
	}
	flags := config.ReadFlags(env.Getenv)
	own, behind := paths.AuthFile()
	if env.Getenv("LATHE_HOME") != "" {
		behind = ""
	}
	return paths, flags, auth.Open(auth.Options{Path: own, Fallback: behind, Content: flags.AuthContent}), nil
}

// Open wires everything.
func Open(ctx context.Context, env *console.Env, o Options) (a *App, err error) {
	paths, flags, creds, err := Places(env)
	if err != nil {
		return nil, err
	}
	if err := config.Ensure(paths.Data); err != nil {
		return nil, lathe.Errorf(lathe.CodeInternal, "let LATHE_HOME (or XDG_DATA_HOME) name a directory that can be written", "%v", err)
	}
	a = &App{Env: env, attended: o.Attended, bare: o.Bare, Flags: flags, Paths: paths, Auth: creds, Bus: bus.New(bus.Options{Now: env.Now})}
	a.Own.Others = func() []string { return client.Addresses(RunDir(paths)) }
	half := a // a is nil when an error is returned, but half has to be closed
	defer func() {
		if err != nil {
			err = errors.Join(err, half.Close())
		}
	}()
	a.decisions = instance.NewDecisions(func() instance.Options { return a.InstanceOptions(nil) }, flags.Trust || o.Trust)
	a.openLog()
	if err := a.openDatabase(ctx, cmp.Or(o.Store, env.Getenv(console.StoreVar))); err != nil {
		return nil, err
	}
	a.Store = a.DB.kept
	a.Keys = newRing(a)
	a.writer = commit.New(a.Store, a.Bus)
	if a.Store.ReadOnly() {
		fmt.Fprintf(env.Stderr, "lathe: warning: %s cannot be written: sessions can be read, nothing can be changed\n", console.Clean(paths.Data))
	}
	if a.DB.Files != nil && a.DB.Files.Restarted() {
		fmt.Fprintf(env.Stderr, "lathe: warning: the database %s is gone or was empty, and a new one was made; say \"lathe doctor\" to see what is left of the old one\n", console.Clean(a.DB.Files.Path()))
	}
	if a.models, err = catalog.Open(a.catalogOptions()); err != nil {
		return nil, err
	}
	a.Runner = shell.New(shell.Options{Supervisor: env.Supervisor, Hide: env.Hide})
	a.Jobs = job.NewManager(job.Options{Runner: a.Runner, Mark: a.DB.mark(), Now: env.Now, Log: a.Log, Alarm: builtin.ErrorLine, Keepers: Keepers(env, paths), Ledger: ledger(paths), Changed: func(i job.Info) {
		a.writer.Tell(i.Directory, lathe.JobChanged{SessionID: i.Session, JobID: i.ID, Running: i.Running()})
	}})
	a.languages = lsp.NewPool(lsp.PoolOptions{Now: env.Now})
	a.Service = session.New(session.Options{
		Store: a.Store, Bus: a.Bus, Writer: a.writer, Jobs: a.Jobs, Now: env.Now, Log: a.Log, Owner: a.DB.self, Retries: retries(env), Sharing: share.Remote{Encode: encodeShared}, Changed: a.DB.changed(paths.Data),
		Open: func(ctx context.Context, dir string) (*instance.Instance, error) {
			inst, err := instance.Open(ctx, dir, a.InstanceOptions(a.models))
			if err == nil && a.Flags.LogLevel == "" {
				a.setLevel(inst.Config.LogLevel)
			}
			return inst, err
		},
	})
	if !a.Store.ReadOnly() {
		if err := a.Service.CloseInterrupted(ctx); err != nil { // a full disk, say; each prompt tries again
			a.Log.Warn("what processes that died left open could not be closed", "err", err)
		}
	}
	a.startBackground(o.Clones)
	return a, nil
}

// Kept is what is stored beside sessions: todo lists and approvals.
func (a *App) Kept() session.Kept { return session.Kept{Store: a.Store, Writer: a.writer} }

// InstanceOptions is what an instance of any directory is opened with.
func (a *App) InstanceOptions(models *catalog.Catalog) instance.Options {
	return instance.Options{
		Paths: a.Paths, Getenv: a.Env.Getenv, Environ: a.Env.Environ, Auth: a.Auth, Keys: a.Keys, Catalog: models,
		Log: a.Log, Now: a.Env.Now, Runner: a.Runner, Sandbox: sandboxOptions(a.Env.Getenv), Jobs: a.Jobs, Todos: a.Kept(),
		Publish:   a.writer.Tell,
		IDs:       lathe.NewIDs(a.Env.Now, nil),
		Builtin:   builtinModel(a.Env.Dir, guide.Options{Attended: a.attended}),
		Trusted:   a.decisions.Trusted,
		Trust:     trust.Open(a.Paths.TrustFile()),
		Approvals: a.Kept(), Allowances: a.Store.Allowances,
		Secrets: console.Secrets,
		Own:     &a.Own, Connect: a.Env.Connect,
		Buffers:   &a.Buffers,
		Languages: a.languages,
		Door:      func() http.RoundTripper { return a.door.open(a) },
	}
}

// builtinModel makes the models that answer from within the process.
func builtinModel(dir string, o guide.Options) func(lathe.ModelRef) (llm.Model, bool) {
	return func(ref lathe.ModelRef) (llm.Model, bool) {
		switch {
		case ref.Provider == "offline" && ref.Model == "guide":
			return guide.New(o), true
		case ref.Provider == "script":
			path := ref.Model
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			return script.New(func() ([]byte, error) { return workspace.ReadFile(path, 16<<20) }), true
		}
		return nil, false
	}
}

// retries reads how often failed requests are repeated, and after which delay.
func retries(env *console.Env) turn.Retries {
	var r turn.Retries
	if n, err := strconv.Atoi(env.Getenv("LATHE_RETRY_MAX")); err == nil && n >= 0 {
		r.Max = n
		if n == 0 {
			r.Max = -1
		}
	}
	if d, err := time.ParseDuration(env.Getenv("LATHE_RETRY_BASE")); err == nil && d > 0 {
		r.Base = d
	}
	return r
}

// openLog sends the log to a file of the day, or to standard error when asked.
// If no file can be used there is no log; that never stops a run.
func (a *App) openLog() {
	a.setLevel(a.Flags.LogLevel)
	opts := &slog.HandlerOptions{Level: &a.level, ReplaceAttr: withoutSecrets}
	a.Log = slog.New(slog.DiscardHandler)
	if a.Flags.PrintLogs {
		a.Log = slog.New(slog.NewTextHandler(console.Raw(a.Env.Stderr), opts))
		return
	}
	a.Log = slog.New(&lazyLog{dir: filepath.Join(a.Paths.Data, "log"), day: a.Env.Now().Format("2006-01-02"), opts: opts, app: a})
}

// setLevel changes which records are written; a name that is not a level changes nothing.
func (a *App) setLevel(name string) {
	var level slog.Level
	if name != "" && level.UnmarshalText([]byte(name)) == nil {
		a.level.Set(level)
	}
}

func (a *App) catalogOptions() catalog.Options {
	return catalog.Options{
		CacheDir: a.Paths.Cache, URL: a.Flags.ModelsURL, Path: a.Flags.ModelsPath, NoFetch: a.Flags.DisableModelsFetch, Now: a.Env.Now,
	}
}

func (a *App) refreshCatalog(ctx context.Context) error {
	_, err := catalog.Refresh(ctx, a.catalogOptions(), true)
	return err
}

// refreshAfter is how long a program has to run before it looks for a newer catalogue: a
// command that is over at once connects to nobody.
const refreshAfter = time.Second

// startBackground starts the background work: upkeep, and the check for a newer
// catalogue. It is cancelled when the program ends, which waits only until it
// has stopped.
func (a *App) startBackground(clones []*clone.Clone) {
	ctx, cancel := context.WithCancel(context.Background())
	a.background = cancel
	a.startUpkeep(ctx)
	a.joinOthers(ctx, clones)
	if a.Flags.DisableModelsFetch {
		return
	}
	a.wg.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(refreshAfter):
		}
		if _, err := catalog.Refresh(ctx, a.catalogOptions(), false); err != nil && ctx.Err() == nil {
			a.Log.Debug("the model catalogue could not be refreshed", "err", err)
		}
	})
}

// Close ends what is running and closes everything; it may be called on an app that is only partly open.
func (a *App) Close() error {
	var errs []error
	if a.Service != nil {
		errs = append(errs, a.Service.Close())
		a.leaveOthers()
	}
	errs = append(errs, a.door.close())
	if a.background != nil {
		a.background()
	}
	a.wg.Wait()
	if a.languages != nil {
		a.languages.Close()
	}
	if a.Jobs != nil {
		a.Jobs.Close()
	}
	if a.Runner != nil {
		errs = append(errs, a.Runner.Close())
	}
	errs = append(errs, a.DB.Close())
	if a.logTo != nil {
		errs = append(errs, a.logTo.Close())
	}
	return errors.Join(errs...)
}

// RunDir is where servers make themselves known to programs of the same user.
func RunDir(paths config.Paths) string { return filepath.Join(paths.Data, "run") }

// ServerOptions are what every server over this engine has.
func (a *App) ServerOptions(dir string) server.Options {
	return server.Options{
		Service: a.Service, Store: a.Store, Bus: a.Bus, Jobs: a.Jobs, Auth: a.Auth, Keys: a.Keys, Paths: a.Paths, Catalog: a.models, Refresh: a.refreshCatalog,
		Now: a.Env.Now, Getenv: a.Env.Getenv, Log: a.Log, Dir: dir, Trusting: a.decisions, Elsewhere: a.others, Terminals: a.terminals,
	}
}

// LocalServer is the server that this process alone can reach. Close it.
func (a *App) LocalServer(dir string) *server.Server {
	return server.New(a.localOptions(dir))
}

func (a *App) localOptions(dir string) server.Options {
	o := a.ServerOptions(dir)
	o.Trusted, o.Local = true, true
	o.Environ = shell.Env(a.Env.Environ, nil, console.Secrets...)
	o.Shell = shell.Choose(o.Environ)
	return o
}
