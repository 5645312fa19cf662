// Package enginetest wires the engine for tests as a process wires it: the session
// service over a real store in a directory of the test's own, one writer, one bus, and
// a runner of commands. What a test does not say is what it would be for a person who
// has configured nothing.
package enginetest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/bus"
	"lathe/internal/commit"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/job"
	"lathe/internal/lsp"
	"lathe/internal/session"
	"lathe/internal/shell"
	"lathe/internal/store"
)

// Options say what is special about an engine.
type Options struct {
	// Env is the environment that configuration is read from; HOME and LATHE_HOME are
	// needed, and what is added later counts for instances that are opened then.
	Env map[string]string
	// Instance and Session are used as they are, but for what is missing in them.
	Instance instance.Options
	Session  session.Options
	// Fault fails writes to the store; see [sqlite.Options].
	Fault func() error
	// Dial opens connections to the database, if the store is one; see [postgres.Options].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Engine is the engine of one process. Two of them on one home are two processes.
type Engine struct {
	*session.Service
	Store    *store.Store
	Bus      *bus.Bus
	Writer   *commit.Writer
	Jobs     *job.Manager
	Instance instance.Options // what instances are opened with; may be changed before that
	Self     store.Owner      // of leases

	session session.Options
	close   func() error
}

// Open starts an engine. Close it.
func Open(ctx context.Context, o Options) (*Engine, error) {
	getenv := func(name string) string { return o.Env[name] }
	in, se := o.Instance, o.Session
	if in.Paths.Data == "" {
		paths, err := config.DefaultPaths(getenv)
		if err != nil {
			return nil, err
		}
		in.Paths = paths
	}
	if in.Now == nil {
		in.Now = time.Now
	}
	db, err := openStore(ctx, in.Paths.Data, in.Now, o)
	if err != nil {
		return nil, err
	}
	if se.Bus == nil {
		se.Bus = bus.New(bus.Options{})
	}
	e := &Engine{Store: db.kept, Bus: se.Bus, Writer: commit.New(db.kept, se.Bus)}
	kept := session.Kept{Store: db.kept, Writer: e.Writer}
	in.Todos, in.Log = kept, cmp.Or(in.Log, slog.New(slog.DiscardHandler))
	if in.Getenv == nil {
		in.Getenv = getenv
	}
	if in.Environ == nil {
		in.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + o.Env["HOME"]}
	}
	if in.IDs == nil {
		in.IDs = lathe.NewIDs(in.Now, nil)
	}
	if in.Approvals == nil {
		in.Approvals = kept
	}
	if in.Allowances == nil {
		in.Allowances = db.kept.Allowances
	}
	if in.Runner == nil {
		in.Runner = shell.New(shell.Options{})
	}
	if in.Languages == nil {
		in.Languages = lsp.NewPool(lsp.PoolOptions{Now: in.Now})
	}
	if in.Jobs == nil {
		in.Jobs = job.NewManager(job.Options{Runner: in.Runner, Now: in.Now, Log: in.Log, Alarm: builtin.ErrorLine, Changed: func(i job.Info) {
			e.Writer.Tell(i.Directory, lathe.JobChanged{SessionID: i.Session, JobID: i.ID, Running: i.Running()})
		}})
	}
	e.Self = db.self
	e.Jobs, se.Jobs = in.Jobs, in.Jobs
	in.Publish = e.Writer.Tell
	e.Instance = in
	se.Store, se.Writer, se.IDs, se.Now, se.Owner = db.kept, e.Writer, in.IDs, in.Now, db.self
	se.Open = func(ctx context.Context, dir string) (*instance.Instance, error) {
		return instance.Open(ctx, dir, e.Instance)
	}
	e.session = se
	e.Restart()
	relayed, leave := context.WithCancel(context.Background())
	var others sync.WaitGroup
	others.Go(func() { e.Writer.Relay(relayed) }) // at once over, but for a store that servers share
	e.close = sync.OnceValue(func() error {
		err := errors.Join(e.Service.Close(), e.Writer.Flush(context.Background()))
		leave()
		others.Wait()
		e.Jobs.Close()
		in.Languages.Close()
		return errors.Join(err, in.Runner.Close(), db.close())
	})
	return e, nil
}

// Restart makes the service again on the same store, as if the one before had
// vanished. That one is not closed; a test that has stopped it closes it.
func (e *Engine) Restart() { e.Service = session.New(e.session) }

// Close ends the turns, the commands and the store. Closing twice does nothing.
func (e *Engine) Close() error { return e.close() }
