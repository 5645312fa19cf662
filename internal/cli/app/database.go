package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/clone"
	"lathe/internal/config"
	"lathe/internal/forward"
	"lathe/internal/server"
	"lathe/internal/session"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/sqlite"
	"lathe/internal/terminal"
)

// Database is what sessions are kept in: SQLite's files in the data directory, or a
// PostgreSQL that several servers share.
type Database struct {
	Files  *sqlite.DB   // nil for PostgreSQL
	Shared *postgres.DB // nil for SQLite

	kept *store.Store
	self store.Owner // of leases
}

// openDatabase opens the database that an address names; "" is SQLite.
func (a *App) openDatabase(ctx context.Context, address string) error {
	if address == "" {
		db, err := sqlite.Open(ctx, sqlite.Options{Dir: a.Paths.Data, Log: a.Log, Now: a.Env.Now})
		if err != nil {
			return err
		}
		a.DB = Database{kept: db.Store(), self: sqlite.Self(), Files: db}
		return nil
	}
	if err := CheckStore(address); err != nil {
		return err
	}
	db, err := postgres.Open(ctx, postgres.Options{URL: address, Log: a.Log, Now: a.Env.Now, Wait: a.Env.StoreWait})
	if err != nil {
		return err
	}
	a.DB = Database{kept: db.Store(), self: db.Self(), Shared: db}
	return nil
}

// CheckStore refuses what is no address of a store, without repeating it: it may hold a
// password.
func CheckStore(address string) error {
	if strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://") {
		return nil
	}
	kind := "it"
	if u, err := url.Parse(address); err == nil && u.Scheme != "" {
		kind = fmt.Sprintf("%q", u.Scheme)
	}
	return lathe.Errorf(lathe.CodeInvalid, "write it as postgres://user:password@host:5432/database, or leave it out to keep sessions in files here",
		"the store has to be a PostgreSQL; %s is none", kind)
}

// mark tells the jobs of this process from those of others on the database; "" if there are none.
func (d *Database) mark() string {
	if d.Shared == nil {
		return ""
	}
	return strings.ToLower(rand.Text()[:6])
}

// Close closes it; it may be called when nothing is open.
func (d *Database) Close() error {
	switch {
	case d.Files != nil:
		return d.Files.Close()
	case d.Shared != nil:
		return d.Shared.Close()
	}
	return nil
}

// InFiles returns the database for commands that are about its files.
func (d *Database) InFiles() (*sqlite.DB, error) {
	if d.Files == nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "use PostgreSQL's own programs, such as pg_dump, psql and vacuumdb; or unset "+console.StoreVar,
			"sessions are in the database %s, and this command is about files", d.Shared.Where())
	}
	return d.Files, nil
}

// StoreOf returns the address of the store that a server uses: that of the flag, of the
// environment, or of the person's own configuration. A repository has no say.
func StoreOf(ctx context.Context, env *console.Env, flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if v := env.Getenv(console.StoreVar); v != "" {
		return v, nil
	}
	conf, err := OwnConfig(ctx, env)
	if err != nil {
		return "", err
	}
	return conf.Server.Store, nil
}

// OwnConfig returns the person's own configuration, in which no repository has a say.
func OwnConfig(ctx context.Context, env *console.Env) (*config.Config, error) {
	paths, err := config.DefaultPaths(env.Getenv)
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "set HOME or LATHE_HOME", "%v", err)
	}
	own := func(name string) string {
		if name == "LATHE_DISABLE_PROJECT_CONFIG" {
			return "1"
		}
		return env.Getenv(name)
	}
	return config.Load(ctx, config.Options{Dir: paths.Config, Worktree: paths.Config, Paths: paths, Getenv: own})
}

// joinOthers publishes here what other servers on the same database do, and looks after
// those that end without a word.
func (a *App) joinOthers(ctx context.Context, clones []*clone.Clone) {
	if a.DB.Shared == nil {
		return
	}
	a.wg.Go(func() { a.writer.Relay(ctx) })
	a.wg.Go(func() { session.NewWatch(a.Service).Run(ctx) })
	a.terminals = terminal.NewManager(terminal.Options{IDs: lathe.NewIDs(a.Env.Now, nil), Publish: func(k terminal.Kind, t terminal.Info) {
		a.writer.Tell(t.Directory, server.TerminalEvent(k, t))
	}})
	var own pluginDoor // made when another server asks for something for the first time
	f := forward.New(forward.Options{Store: a.Store, Self: a.DB.self, Bus: a.Bus, Log: a.Log, Local: func() http.RoundTripper { return own.open(a) },
		Tell: a.writer.Tell, Terminals: a.terminals, Jobs: a.Jobs, Bare: a.bare, Fresh: a.fresh(clones)})
	a.others, a.forwarder = f, f
	a.wg.Go(func() {
		f.Run(ctx)
		f.Close()
		_ = a.terminals.Close() // it has no error
		if err := own.close(); err != nil {
			a.Log.Warn("what other servers asked for did not end well", "err", err)
		}
	})
}

// leaveTime bounds the last word to other servers.
const leaveTime = 2 * time.Second

// leaveOthers tells other servers the last of what happened here.
func (a *App) leaveOthers() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := a.writer.Flush(ctx); err != nil { // they find out by themselves
		a.Log.Warn("other servers were not told the last of what happened here", "err", err)
	}
}
