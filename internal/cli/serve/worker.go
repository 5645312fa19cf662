package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/config"
	"lathe/internal/workspace"
)

// defaultTurns is how many turns a worker runs at once unless it is told.
const defaultTurns = 4

// workerOptions are the settings of `lathe worker`.
type workerOptions struct {
	store string
	roots []string
	turns int
	drain time.Duration

	clones cloneOptions
	counts countingOptions
}

// NewWorker is lathe worker.
func NewWorker(env *console.Env) *cobra.Command {
	var o workerOptions
	cmd := &cobra.Command{
		Use: "worker", Short: "Run the turns of a team's servers where the files are", Args: console.NoArgs,
		Long: `Worker offers directories of this machine to the servers that share a PostgreSQL
(lathe serve --store). A prompt for a session in one of them that comes to a server
without that directory is queued in the database, taken by a worker that has it, and
runs here: with this machine's tools, confinement, configuration and credentials.
--clone offers a clone of a git remote, which is made at the first start; it is fetched
before a session begins, with the credentials that git's own helpers and ssh have.
Asks, answers, aborts and what is streamed go through the database as between servers;
nobody connects to a worker, but Prometheus with --metrics.

Prompts wait while every worker is busy. Of those that wait, people and directories
with the least running come first. "worker" in your configuration can hold "roots",
"clones", "turns" and "limits" (how many turns may run in a directory at once, on all workers
together); a repository has no say in it.

An interrupt (Ctrl-C, SIGTERM) stops it: it takes nothing more, and each turn that runs
is handed over when the step that it is at is over. There are 20 seconds for that unless
--drain says otherwise; what still runs then is aborted and recorded. Another worker goes
on with it and with what waits, or this one when it is started again. lathe workers shows
who does what.`,
		Example: `  LATHE_STORE=postgres://lathe@db.example.com/lathe lathe worker --root ~/src/app
  lathe worker --store postgres://lathe@db.example.com/lathe --root /srv/app --root /srv/lib --turns 8 --drain 10m
  lathe worker --clone https://git.example.com/team/app.git`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), env, cmd.Flags().Changed("drain"))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.store, "store", "", "PostgreSQL that the servers share, as postgres://user@host/database (default: LATHE_STORE, or your configuration)")
	f.StringArrayVar(&o.roots, "root", nil, "directory to offer, with all that is below it (repeatable)")
	f.StringArrayVar(&o.clones.remotes, "clone", nil, "git remote to clone and offer, as git clone takes it (repeatable)")
	f.StringVar(&o.clones.dir, "clone-dir", "", "where the clones are, if workers share them; each has its own otherwise")
	f.IntVar(&o.turns, "turns", 0, fmt.Sprintf("how many turns to run at once (default %d)", defaultTurns))
	f.DurationVar(&o.drain, "drain", 0, drainUsage)
	f.StringVar(&o.counts.address, "metrics", "", "count what happens, for Prometheus: GET /metrics at this address, such as 127.0.0.1:9464")
	f.StringVar(&o.counts.passwordFile, "password-file", "", "with --metrics: file with the password")
	return cmd
}

func (o *workerOptions) run(ctx context.Context, env *console.Env, drains bool) error {
	conf, err := app.OwnConfig(ctx, env)
	if err != nil {
		return err
	}
	if len(o.roots) == 0 && len(o.clones.remotes) == 0 {
		o.roots, o.clones.remotes = conf.Worker.Roots, conf.Worker.Clones
	}
	if len(o.clones.remotes) > 0 {
		o.clones.dir = cmp.Or(o.clones.dir, conf.Worker.CloneDir)
	}
	remotes, err := o.clones.settle(env)
	if err != nil {
		return err
	}
	work, err := o.settle(env, conf.Worker, len(remotes) > 0)
	if err != nil {
		return err
	}
	address, err := app.StoreOf(ctx, env, o.store)
	if err != nil {
		return err
	}
	if address == "" {
		return lathe.Errorf(lathe.CodeInvalid, "name it with --store or LATHE_STORE, as postgres://user@host/database",
			"a worker needs the database that it shares with the servers")
	}
	clones, err := o.clones.open(ctx, env, remotes, &work)
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, env, app.Options{Dir: work.Directories[0], Attended: true, Store: address, Clones: clones})
	if err != nil {
		return err
	}
	counts, err := o.counts.open(ctx, env, a)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	o.drain = drainTime(a, o.drain, drains)
	work.Ready = func() {
		fmt.Fprintf(env.Stdout, "lathe worker offers %s\n", console.Clean(strings.Join(work.Directories, ", ")))
		a.Log.Info("the worker is ready", "directories", work.Directories, "turns", work.Turns)
		notifyManager(env.Getenv, "READY=1")
	}
	return errors.Join(o.work(ctx, env, a, work), counts.Close(), a.Close())
}

// work works until the context ends, and then lets running turns finish for a while.
func (o *workerOptions) work(ctx context.Context, env *console.Env, a *app.App, work app.WorkOptions) error {
	ended := make(chan error, 1)
	go func() { ended <- a.Work(ctx, work) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	notifyManager(env.Getenv, "STOPPING=1")
	stop := drain{env: env, app: a, patience: o.drain, again: true}
	stop.run()
	err := a.Service.Close() // what still runs is aborted and recorded
	return errors.Join(err, <-ended)
}

// settle fills in from the configuration what no flag set, and checks all settings. There may
// be nothing but clones to offer.
func (o *workerOptions) settle(env *console.Env, conf config.Worker, clones bool) (app.WorkOptions, error) {
	out := app.WorkOptions{Turns: o.turns, Limits: map[string]int{}}
	if out.Turns < 0 || o.drain < 0 {
		return out, console.Usagef("--turns and --drain cannot be below zero")
	}
	for _, n := range []int{conf.Turns, defaultTurns} {
		if out.Turns == 0 {
			out.Turns = n
		}
	}
	for _, root := range o.roots {
		dir, err := console.WorkDir(env, home(env, root))
		if err != nil {
			return out, err
		}
		if dir == string(filepath.Separator) {
			return out, lathe.Errorf(lathe.CodeInvalid, "name the directories of your projects", "a worker does not offer all of a machine")
		}
		out.Directories = append(out.Directories, dir)
	}
	if len(out.Directories) == 0 && !clones {
		return out, lathe.Errorf(lathe.CodeInvalid, `add --root DIR or --clone REMOTE, or "worker": {"roots": ["DIR"]} in your configuration`, "there is nothing to offer")
	}
	slices.Sort(out.Directories)
	out.Directories = slices.Compact(out.Directories)
	for _, name := range slices.Sorted(maps.Keys(conf.Limits)) {
		dir := home(env, name)
		if !filepath.IsAbs(dir) || conf.Limits[name] < 1 {
			return out, lathe.Errorf(lathe.CodeInvalid, `write it as "limits": {"/srv/app": 2}`, "worker.limits: %q is not an absolute path with a number from 1 on", name)
		}
		if real, err := workspace.Resolve(dir); err == nil {
			dir = real
		}
		out.Limits[dir] = conf.Limits[name]
	}
	return out, nil
}

// home replaces "~" at the beginning of a path.
func home(env *console.Env, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok || path == "~" {
		return filepath.Join(env.Getenv("HOME"), rest)
	}
	return path
}
