package cli

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
	"lathe/internal/config"
	"lathe/internal/server"
	"lathe/internal/server/gate"
)

// target says which engine to connect to.
type target struct {
	attach   string // address of a server, "auto" for one that runs here; empty: an engine within the process
	password string // the server's password; empty: the environment's
	dir      string
	trust    bool // the directory's repository, in this run
	attended bool // somebody can answer asks
}

// face is a connection to an engine, the same for every kind of command. Close it.
type face struct {
	*client.Client
	server string // as it is shown
	state  string // the state directory of the person
	app    *app   // of this process; nil when attached
	srv    *server.Server
}

// connect opens the engine that a face works with.
func connect(ctx context.Context, env *Env, t target) (*face, error) {
	if t.attach != "" {
		return attach(ctx, env, t)
	}
	a, err := openApp(ctx, env, appOptions{dir: t.dir, trust: t.trust, attended: t.attended})
	if err != nil {
		return nil, err
	}
	srv := server.New(server.Options{
		Service: a.svc, Store: a.store, Bus: a.bus, Jobs: a.jobs, Auth: a.auth, Paths: a.paths, Catalog: a.models, Refresh: a.refreshCatalog, Now: env.Now, Getenv: env.Getenv, Log: a.log,
		Dir: t.dir, Trusted: true, Local: true, Trusting: a.decisions,
	})
	c, err := client.New(client.Options{URL: "http://localhost", Transport: client.InProcess(srv), Source: srv, Dir: t.dir})
	if err != nil {
		return nil, errors.Join(err, srv.Close(), a.Close())
	}
	return &face{Client: c, app: a, srv: srv, state: a.paths.State}, nil
}

// withFace runs fn with an engine of this process, for this directory.
func withFace(ctx context.Context, env *Env, fn func(f *face, dir string) error) error {
	return withFaceIn(ctx, env, "", fn)
}

// withFaceIn is withFace for a directory; empty means this one.
func withFaceIn(ctx context.Context, env *Env, dir string, fn func(f *face, dir string) error) (err error) {
	dir, err = workDir(env, dir)
	if err != nil {
		return err
	}
	f, err := connect(ctx, env, target{dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return fn(f, dir)
}

// session returns the named session, or the directory's last used one.
func (f *face) session(ctx context.Context, args []string) (lathe.Session, error) {
	if len(args) == 1 {
		return f.Get(ctx, lathe.SessionID(args[0]))
	}
	list, err := f.List(ctx, api.SessionFilter{Limit: 1, Archived: true})
	if err != nil {
		return lathe.Session{}, err
	}
	if len(list) == 0 {
		return lathe.Session{}, lathe.Errorf(lathe.CodeNotFound, "start one with: lathe run, or name one of: lathe session list --all", "there are no sessions in %s", f.Dir())
	}
	return list[0], nil
}

// Close ends the connection, and an engine of this process.
func (f *face) Close() error {
	f.Client.Close()
	if f.app == nil {
		return nil
	}
	return errors.Join(f.app.svc.Close(), f.srv.Close(), f.app.Close())
}

// attach connects to a server.
func attach(ctx context.Context, env *Env, t target) (*face, error) {
	flags := config.ReadFlags(env.Getenv)
	shown := client.Shown(t.attach)
	o := client.Options{URL: t.attach, User: flags.ServerUsername, Password: t.password, Dir: t.dir}
	if o.Password == "" {
		o.Password = flags.ServerPassword
	}
	if t.attach == "auto" {
		found, err := findServer(ctx, env, t.dir)
		if err != nil {
			return nil, err
		}
		shown = found.Name()
		o.Find = func(ctx context.Context) (client.Running, error) { return findServer(ctx, env, t.dir) }
	}
	c, err := client.New(o)
	if err != nil {
		return nil, err
	}
	if _, err := c.Health(ctx); err != nil {
		c.Close()
		return nil, err
	}
	f := &face{Client: c, server: shown}
	if paths, err := config.DefaultPaths(env.Getenv); err == nil {
		f.state = paths.State
	}
	if t.trust {
		if err := trustThere(ctx, c); err != nil {
			c.Close()
			return nil, err
		}
	}
	return f, nil
}

// trustThere trusts the repository as it is now, for as long as the server runs.
func trustThere(ctx context.Context, c *client.Client) error {
	state, err := c.TrustState(ctx)
	if err != nil || state.Given {
		return err
	}
	return c.Decide(ctx, api.Decision{Digest: state.Digest})
}

// attachDir returns the directory for an attached face: the one that was named,
// else this one if the server is on the same machine, else the server's own.
func attachDir(env *Env, address, dir string) (string, error) {
	switch u, err := url.Parse(address); {
	case dir == "" && err == nil && u.Host != "" && !gate.Loopback(u.Hostname()):
		return "", nil
	case dir != "" && filepath.IsAbs(dir):
		if _, err := os.Stat(dir); err != nil { // it may be on the server's machine
			return filepath.Clean(dir), nil
		}
	}
	return workDir(env, dir)
}

// gone reports whether an error means that a server is no longer there.
func gone(err error) bool {
	return errors.Is(err, client.ErrUnreachable) || lathe.CodeOf(err) == lathe.CodeNotFound
}

// warn says what a person should know about the directory's configuration.
func (f *face) warn(ctx context.Context, out *output) {
	notices, err := f.Notices(ctx)
	if err != nil {
		return
	}
	for _, w := range append(notices.Config, notices.Skills...) {
		out.warning(w)
	}
	if notices.Trust != "" {
		out.warning(notices.Trust)
	}
	if !out.quiet {
		for _, line := range f.unsaid(notices.Unused) {
			out.warning(line)
		}
	}
}
