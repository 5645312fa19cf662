package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/client"
	"lathe/internal/say"
	"lathe/internal/store"
	"lathe/internal/store/move"
	"lathe/internal/store/postgres"
	"lathe/internal/store/sqlite"
)

func newDBMove(env *console.Env) *cobra.Command {
	var to, from string
	cmd := &cobra.Command{
		Use: "move --to postgres://… | --to directory", Short: "Carry all sessions to another store", Args: console.NoArgs,
		Long: "Move carries sessions, projects, approvals and what was spent from the store in use to an empty one, compares the two, and leaves\n" +
			"the first as it is. The other is a PostgreSQL, the directory of a database of its own, or \"files\" for the data directory of\n" +
			"this machine. From one PostgreSQL to another it carries the people, too, with their tokens, keys, sessions, what they allowed and the audit; files know no people, and\n" +
			"it says what stays behind. You may stop it at any time; the same command then goes on where it was. No other lathe may work in the sessions meanwhile.",
		RunE: func(cmd *cobra.Command, _ []string) error { return moveStore(cmd.Context(), env, from, to) },
	}
	cmd.Flags().StringVar(&to, "to", "", "the store to move to: the address of a PostgreSQL, a directory, or files")
	cmd.Flags().StringVar(&from, "from", "", "the store to move from, written like --to (default: the one in use)")
	_ = cmd.MarkFlagRequired("to") // the flag exists
	return cmd
}

// place is a store that is named on the command line.
type place struct {
	address string // of a PostgreSQL; "" for files
	dir     string
}

func placeOf(env *console.Env, data, name string) (place, error) {
	switch {
	case strings.Contains(name, "://"):
		if err := app.CheckStore(name); err != nil {
			return place{}, err
		}
		return place{address: name}, nil
	case name == "" || name == "files":
		return place{dir: data}, nil
	case !filepath.IsAbs(name):
		name = filepath.Join(env.Dir, name)
	}
	return place{dir: filepath.Clean(name)}, nil
}

func moveStore(ctx context.Context, env *console.Env, fromName, toName string) (err error) {
	paths, _, _, err := app.Places(env)
	if err != nil {
		return err
	}
	if fromName == "" {
		if fromName, err = app.StoreOf(ctx, env, ""); err != nil {
			return err
		}
	}
	from, err := placeOf(env, paths.Data, fromName)
	if err != nil {
		return err
	}
	to, err := placeOf(env, paths.Data, toName)
	if err != nil {
		return err
	}
	if from == to {
		return lathe.Errorf(lathe.CodeInvalid, "name another store with --to", "the sessions are there already")
	}
	if err := noServer(ctx, app.RunDir(paths)); err != nil {
		return err
	}
	src, err := openSource(ctx, env, from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.close()) }()
	if err := move.Settle(ctx, src.store, src.self); err != nil {
		return err
	}
	dst, where, err := openTarget(ctx, env, to, src.where)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	if err := moveTeam(ctx, env, src, dst); err != nil {
		return err
	}
	if err := move.Run(ctx, src.rows, dst, teller(env.Stderr, time.Now)); err != nil {
		if ctx.Err() != nil {
			fmt.Fprintln(env.Stderr, "lathe: the same command goes on from here")
		}
		return err
	}
	fmt.Fprintf(env.Stdout, "moved to %s; the sessions in %s are as they were\n", where, src.where)
	if to.address != "" {
		fmt.Fprintf(env.Stderr, "lathe: use it with %s or \"server\": {\"store\": …} in your configuration; see: docs/scale.md\n", console.StoreVar)
	}
	return nil
}

// moveTeam carries the people of a database to another one, or says, before anything is moved,
// that files have no place for them.
func moveTeam(ctx context.Context, env *console.Env, src *source, dst store.Target) error {
	if src.db == nil {
		return nil
	}
	team, err := src.db.Team(ctx)
	if err != nil || team == (postgres.Team{}) {
		return err
	}
	what := fmt.Sprintf("%s, %s, %s that are logged in, %s of somebody's own, %s for providers, %s of the audit, %s of theirs",
		say.Plural(team.People, "person"), say.Plural(team.Tokens, "token"), say.Plural(team.Logins, "web page"), say.Plural(team.Claims, "session"), say.Plural(team.Keys, "key"), say.Plural(team.Changes, "entry"), say.Plural(team.Allowed, "approval"))
	filling, ok := dst.(*postgres.Filling)
	if !ok {
		fmt.Fprintf(env.Stderr, "lathe: %s stay behind in %s: files know no people\n", what, src.where)
		fmt.Fprintln(env.Stderr, "lathe: give a server on the files a password (--password-file), and store keys again with: lathe auth login PROVIDER")
		return nil
	}
	if err := filling.CarryTeam(ctx, src.db); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "lathe: carried %s\n", what)
	return nil
}

// noServer refuses to begin while a server of this person runs here.
func noServer(ctx context.Context, dir string) error {
	running, err := client.Find(ctx, dir)
	if err != nil || len(running) == 0 {
		return err
	}
	return lathe.Errorf(lathe.CodeBusy, "end it first", "a lathe server runs here: process %d, in %s", running[0].PID, running[0].Dir)
}

// source is where sessions come from.
type source struct {
	store *store.Store
	rows  store.Carrier
	self  store.Owner
	where string
	db    *postgres.DB // nil: it is files
	close func() error
}

func openSource(ctx context.Context, env *console.Env, p place) (*source, error) {
	if p.address == "" {
		if _, err := os.Stat(filepath.Join(p.dir, "lathe.db")); err != nil {
			return nil, lathe.Errorf(lathe.CodeNotFound, "name the directory of a lathe.db with --from", "there are no sessions in %s", p.dir)
		}
		db, err := sqlite.Open(ctx, sqlite.Options{Dir: p.dir, Now: env.Now})
		if err != nil {
			return nil, err
		}
		return &source{db.Store(), db.Carrier(), sqlite.Self(), db.Path(), nil, db.Close}, nil
	}
	db, err := postgres.Open(ctx, postgres.Options{URL: p.address, Now: env.Now, Wait: env.StoreWait})
	if err != nil {
		return nil, err
	}
	names, err := db.Living(ctx)
	if err == nil && len(names) > 0 {
		err = lathe.Errorf(lathe.CodeBusy, "end it first, or wait until its turns have ended", "a server works in the sessions of %s: %s", db.Where(), names[0])
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &source{db.Store(), db.Carrier(), db.Self(), "the database " + db.Where(), db, db.Close}, nil
}

func openTarget(ctx context.Context, env *console.Env, p place, source string) (t store.Target, where string, err error) {
	if p.address == "" {
		t, err = sqlite.OpenTarget(ctx, sqlite.Options{Dir: p.dir, Now: env.Now}, source)
		return t, filepath.Join(p.dir, "lathe.db"), err
	}
	db, err := postgres.OpenTarget(ctx, postgres.Options{URL: p.address, Now: env.Now, Wait: env.StoreWait}, source)
	if err != nil {
		return nil, "", err
	}
	return db, "the database " + db.Where(), nil
}

// tellEvery is how often progress is told.
const tellEvery = time.Second

// teller tells of progress on a stream: of each table that has ended, and of a large one now
// and then.
func teller(w io.Writer, now func() time.Time) func(move.Progress) {
	last := now()
	return func(p move.Progress) {
		if p.Of == 0 || p.Done < p.Of && now().Sub(last) < tellEvery {
			return
		}
		last = now()
		verb := "carried"
		if p.Comparing {
			verb = "compared"
		}
		fmt.Fprintf(w, "lathe: %s %d of %d: %s\n", verb, p.Done, p.Of, p.Table)
	}
}
