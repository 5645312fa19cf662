package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/builtin"
	"lathe/internal/bus"
	"lathe/internal/catalog"
	"lathe/internal/client"
	"lathe/internal/commit"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/job"
	"lathe/internal/llm"
	"lathe/internal/llm/guide"
	"lathe/internal/llm/script"
	"lathe/internal/lsp"
	"lathe/internal/netguard"
	"lathe/internal/session"
	"lathe/internal/share"
	"lathe/internal/shell"
	"lathe/internal/store"
	"lathe/internal/store/sqlite"
	"lathe/internal/tool"
	"lathe/internal/trust"
	"lathe/internal/turn"
	"lathe/internal/workspace"
)

// secrets are variables that commands must not see: they would let a tool reach
// lathe's own control plane or credentials file.
var secrets = []string{
	"LATHE_SERVER_PASSWORD", "OPENCODE_SERVER_PASSWORD", "LATHE_SERVER_USERNAME", "OPENCODE_SERVER_USERNAME",
	"LATHE_AUTH_CONTENT", "OPENCODE_AUTH_CONTENT", "LATHE_CONSOLE_TOKEN", "OPENCODE_CONSOLE_TOKEN",
}

// hideSecrets hides the process from other programs right away if its environment
// holds secrets; otherwise it is hidden before the first command.
func (e *Env) hideSecrets() {
	if e.Hide == nil || !slices.ContainsFunc(secrets, func(name string) bool { return e.Getenv(name) != "" }) {
		return
	}
	if err := e.Hide(); err != nil {
		fmt.Fprintln(e.Stderr, "lathe: warning:", err)
	}
}

type appOptions struct {
	dir   string
	trust bool // the repository is trusted for this process
	// attended says that somebody can answer when a tool asks for permission.
	attended bool
}

// app is everything that a command works with, wired together, each part a field so that Close
// can end them in reverse order. Close it.
type app struct {
	env       *Env
	flags     config.Flags
	paths     config.Paths
	auth      *auth.Store
	db        *sqlite.DB
	store     *store.Store
	writer    *commit.Writer
	models    *catalog.Catalog
	bus       *bus.Bus
	svc       *session.Service
	runner    *shell.Runner
	jobs      *job.Manager
	log       *slog.Logger
	level     slog.LevelVar // info unless the environment or the configuration says otherwise
	logTo     *logFile
	own       netguard.Listeners // of this process, which tools may not reach
	buffers   tool.Buffers       // of sessions that an editor drives
	languages *lsp.Pool          // language servers
	// attended says that somebody can answer asks.
	attended bool

	decisions  *instance.Decisions // about repositories
	door       pluginDoor
	background context.CancelFunc
	wg         sync.WaitGroup
}

// places returns the directories and credentials, which need no store.
func places(env *Env) (config.Paths, config.Flags, *auth.Store, error) {
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

// openApp wires everything.
func openApp(ctx context.Context, env *Env, o appOptions) (a *app, err error) {
	paths, flags, creds, err := places(env)
	if err != nil {
		return nil, err
	}
	if err := config.Ensure(paths.Data); err != nil {
		return nil, lathe.Errorf(lathe.CodeInternal, "let LATHE_HOME (or XDG_DATA_HOME) name a directory that can be written", "%v", err)
	}
	a = &app{env: env, attended: o.attended, flags: flags, paths: paths, auth: creds, bus: bus.New(bus.Options{Now: env.Now})}
	a.own.Others = func() []string { return client.Addresses(runDir(paths)) }
	half := a // a is nil when an error is returned, but half has to be closed
	defer func() {
		if err != nil {
			err = errors.Join(err, half.Close())
		}
	}()
	a.decisions = instance.NewDecisions(func() instance.Options { return a.instanceOptions(nil) }, flags.Trust || o.trust)
	a.openLog()
	if a.db, err = sqlite.Open(ctx, sqlite.Options{Dir: paths.Data, Log: a.log, Now: env.Now}); err != nil {
		return nil, err
	}
	a.store = a.db.Store()
	a.writer = commit.New(a.store, a.bus)
	if a.store.ReadOnly() {
		fmt.Fprintf(env.Stderr, "lathe: warning: %s cannot be written: sessions can be read, nothing can be changed\n", clean(paths.Data))
	}
	if a.db.Restarted() {
		fmt.Fprintf(env.Stderr, "lathe: warning: the database %s is gone or was empty, and a new one was made; say \"lathe doctor\" to see what is left of the old one\n", clean(a.db.Path()))
	}
	if a.models, err = catalog.Open(a.catalogOptions()); err != nil {
		return nil, err
	}
	a.runner = shell.New(shell.Options{Supervisor: env.Supervisor, Hide: env.Hide})
	a.jobs = job.NewManager(job.Options{Runner: a.runner, Now: env.Now, Log: a.log, Alarm: builtin.ErrorLine, Keepers: keepers(env, paths), Ledger: ledger(paths), Changed: func(i job.Info) {
		a.writer.Tell(i.Directory, lathe.JobChanged{SessionID: i.Session, JobID: i.ID, Running: i.Running()})
	}})
	a.languages = lsp.NewPool(lsp.PoolOptions{Now: env.Now})
	a.svc = session.New(session.Options{
		Store: a.store, Bus: a.bus, Writer: a.writer, Jobs: a.jobs, Now: env.Now, Log: a.log, Owner: sqlite.Self(), Retries: retries(env), Sharing: share.Remote{Encode: encodeShared},
		Open: func(ctx context.Context, dir string) (*instance.Instance, error) {
			inst, err := instance.Open(ctx, dir, a.instanceOptions(a.models))
			if err == nil && a.flags.LogLevel == "" {
				a.setLevel(inst.Config.LogLevel)
			}
			return inst, err
		},
	})
	if !a.store.ReadOnly() {
		if err := a.svc.CloseInterrupted(ctx); err != nil { // a full disk, say; each prompt tries again
			a.log.Warn("what processes that died left open could not be closed", "err", err)
		}
	}
	a.startBackground()
	return a, nil
}

func (a *app) kept() session.Kept { return session.Kept{Store: a.store, Writer: a.writer} }

// withApp runs fn with everything open, for commands about the database itself.
func withApp(ctx context.Context, env *Env, fn func(a *app, dir string) error) (err error) {
	dir, err := workDir(env, "")
	if err != nil {
		return err
	}
	a, err := openApp(ctx, env, appOptions{dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a, dir)
}

func (a *app) instanceOptions(models *catalog.Catalog) instance.Options {
	return instance.Options{
		Paths: a.paths, Getenv: a.env.Getenv, Environ: a.env.Environ, Auth: a.auth, Catalog: models,
		Log: a.log, Now: a.env.Now, Runner: a.runner, Sandbox: sandboxOptions(a.env.Getenv), Jobs: a.jobs, Todos: a.kept(),
		Publish:   a.writer.Tell,
		IDs:       lathe.NewIDs(a.env.Now, nil),
		Builtin:   builtinModel(a.env.Dir, guide.Options{Attended: a.attended}),
		Trusted:   a.decisions.Trusted,
		Trust:     trust.Open(a.paths.TrustFile()),
		Approvals: a.kept(),
		Secrets:   secrets,
		Own:       &a.own, Connect: a.env.Connect,
		Buffers:   &a.buffers,
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
func retries(env *Env) turn.Retries {
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
func (a *app) openLog() {
	a.setLevel(a.flags.LogLevel)
	opts := &slog.HandlerOptions{Level: &a.level, ReplaceAttr: withoutSecrets}
	a.log = slog.New(slog.DiscardHandler)
	if a.flags.PrintLogs {
		a.log = slog.New(slog.NewTextHandler(a.env.Stderr, opts))
		return
	}
	a.log = slog.New(&lazyLog{dir: filepath.Join(a.paths.Data, "log"), day: a.env.Now().Format("2006-01-02"), opts: opts, app: a})
}

// setLevel changes which records are written; a name that is not a level changes nothing.
func (a *app) setLevel(name string) {
	var level slog.Level
	if name != "" && level.UnmarshalText([]byte(name)) == nil {
		a.level.Set(level)
	}
}

func (a *app) catalogOptions() catalog.Options {
	return catalog.Options{
		CacheDir: a.paths.Cache, URL: a.flags.ModelsURL, Path: a.flags.ModelsPath, NoFetch: a.flags.DisableModelsFetch, Now: a.env.Now,
	}
}

func (a *app) refreshCatalog(ctx context.Context) error {
	_, err := catalog.Refresh(ctx, a.catalogOptions(), true)
	return err
}

// refreshAfter is how long a program has to run before it looks for a newer catalogue: a
// command that is over at once connects to nobody.
const refreshAfter = time.Second

// startBackground starts the background work: upkeep, and the check for a newer
// catalogue. It is cancelled when the program ends, which waits only until it
// has stopped.
func (a *app) startBackground() {
	ctx, cancel := context.WithCancel(context.Background())
	a.background = cancel
	a.startUpkeep(ctx)
	if a.flags.DisableModelsFetch {
		return
	}
	a.wg.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(refreshAfter):
		}
		if _, err := catalog.Refresh(ctx, a.catalogOptions(), false); err != nil && ctx.Err() == nil {
			a.log.Debug("the model catalogue could not be refreshed", "err", err)
		}
	})
}

// Close ends what is running and closes everything; it may be called on an app that is only partly open.
func (a *app) Close() error {
	var errs []error
	if a.svc != nil {
		errs = append(errs, a.svc.Close())
	}
	errs = append(errs, a.door.close())
	if a.background != nil {
		a.background()
	}
	a.wg.Wait()
	if a.languages != nil {
		a.languages.Close()
	}
	if a.jobs != nil {
		a.jobs.Close()
	}
	if a.runner != nil {
		errs = append(errs, a.runner.Close())
	}
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	if a.logTo != nil {
		errs = append(errs, a.logTo.Close())
	}
	return errors.Join(errs...)
}
