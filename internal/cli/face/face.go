// Package face connects commands to an engine: one in this process, made by package app,
// or that of a server that is already running. Both are called through package client.
package face

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/client"
	"lathe/internal/config"
	"lathe/internal/server"
	"lathe/internal/server/gate"
)

// Target says which engine to connect to.
type Target struct {
	Attach   string // address of a server, "auto" for one that runs here; empty: an engine within the process
	Password string // the server's password; empty: the environment's
	Dir      string
	Trust    bool // the directory's repository, in this run
	Attended bool // somebody can answer asks
}

// Face is a connection to an engine, the same for every kind of command. Close it.
type Face struct {
	*client.Client
	Address string   // of the server, as it is shown
	state   string   // the state directory of the person
	App     *app.App // of this process; nil when attached
	srv     *server.Server
}

// Connect opens the engine that a face works with.
func Connect(ctx context.Context, env *console.Env, t Target) (*Face, error) {
	if t.Attach != "" {
		return attach(ctx, env, t)
	}
	a, err := app.Open(ctx, env, app.Options{Dir: t.Dir, Trust: t.Trust, Attended: t.Attended})
	if err != nil {
		return nil, err
	}
	srv := a.LocalServer(t.Dir)
	c, err := client.New(client.Options{URL: "http://localhost", Transport: client.InProcess(srv), Source: srv, Dir: t.Dir})
	if err != nil {
		return nil, errors.Join(err, srv.Close(), a.Close())
	}
	return &Face{Client: c, App: a, srv: srv, state: a.Paths.State}, nil
}

// With runs fn with an engine of this process, for this directory.
func With(ctx context.Context, env *console.Env, fn func(f *Face, dir string) error) error {
	return WithIn(ctx, env, "", fn)
}

// WithIn is With for a directory; empty means this one.
func WithIn(ctx context.Context, env *console.Env, dir string, fn func(f *Face, dir string) error) (err error) {
	dir, err = console.WorkDir(env, dir)
	if err != nil {
		return err
	}
	f, err := Connect(ctx, env, Target{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return fn(f, dir)
}

// Session returns the named session, or the directory's last used one.
func (f *Face) Session(ctx context.Context, args []string) (lathe.Session, error) {
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
func (f *Face) Close() error {
	f.Client.Close()
	if f.App == nil {
		return nil
	}
	return errors.Join(f.App.Service.Close(), f.srv.Close(), f.App.Close())
}

// attach connects to a server.
func attach(ctx context.Context, env *console.Env, t Target) (*Face, error) {
	flags := config.ReadFlags(env.Getenv)
	shown := client.Shown(t.Attach)
	o := client.Options{URL: t.Attach, User: flags.ServerUsername, Password: t.Password, Dir: t.Dir}
	if o.Password == "" {
		o.Password = flags.ServerPassword
	}
	if t.Attach == "auto" {
		found, err := findServer(ctx, env, t.Dir)
		if err != nil {
			return nil, err
		}
		shown = found.Name()
		o.Find = func(ctx context.Context) (client.Running, error) { return findServer(ctx, env, t.Dir) }
	}
	c, err := client.New(o)
	if err != nil {
		return nil, err
	}
	if _, err := c.Health(ctx); err != nil {
		c.Close()
		return nil, err
	}
	f := &Face{Client: c, Address: shown}
	if paths, err := config.DefaultPaths(env.Getenv); err == nil {
		f.state = paths.State
	}
	if t.Trust {
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

// DirFor returns the directory for an attached face: the one that was named,
// else this one if the server is on the same machine, else the server's own.
func DirFor(env *console.Env, address, dir string) (string, error) {
	elsewhere := slices.ContainsFunc(client.SplitAddresses(address), func(one string) bool {
		u, err := url.Parse(one)
		return err == nil && u.Host != "" && !gate.Loopback(u.Hostname())
	})
	switch {
	case dir == "" && elsewhere:
		return "", nil
	case dir != "" && filepath.IsAbs(dir):
		if _, err := os.Stat(dir); err != nil { // it may be on the server's machine
			return filepath.Clean(dir), nil
		}
	}
	return console.WorkDir(env, dir)
}

// Gone reports whether an error means that a server is no longer there.
func Gone(err error) bool {
	return errors.Is(err, client.ErrUnreachable) || lathe.CodeOf(err) == lathe.CodeNotFound
}

// Attached does something with the server that --attach names.
func Attached(ctx context.Context, env *console.Env, address, passwordFile string, do func(*Face) error) error {
	password, err := Password(passwordFile)
	if err != nil {
		return err
	}
	dir, err := DirFor(env, address, "")
	if err != nil {
		return err
	}
	f, err := Connect(ctx, env, Target{Attach: address, Password: password, Dir: dir})
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}
