package server

import (
	"cmp"
	"context"
	"net/http"

	"lathe"
	"lathe/internal/api"
)

// Trusting keeps the person's decisions about repositories. Directories are those
// that requests are about.
type Trusting interface {
	State(ctx context.Context, dir string) (api.Trust, error)
	// Decide trusts what a digest stands for, permanently or for this process.
	// It fails if the files have changed since.
	Decide(ctx context.Context, dir string, d api.Decision) error
	// Withdraw withdraws every decision about a directory.
	Withdraw(ctx context.Context, dir string) (api.Withdrawn, error)
	// List returns what is trusted permanently.
	List() ([]api.Trusted, error)
}

// repositories answers what the person decided about repositories. Whoever may call may
// decide: the gate lets neither a stranger's page nor a command's process through, and a
// decision applies to the files that were shown.
type repositories struct{ *call }

func trustRoutes() []route {
	return []route{
		{http.MethodGet, "/lathe/trust", on(repositories.state), ""},
		{http.MethodGet, "/lathe/trust/list", on(repositories.list), ""},
		{http.MethodPost, "/lathe/trust/decision", on(repositories.decide), ""},
		{http.MethodDelete, "/lathe/trust/decision", on(repositories.withdraw), ""},
	}
}

func (c repositories) state() (any, error) {
	t, dir, err := c.trusting()
	if err != nil {
		return nil, err
	}
	return t.State(c.ctx(), dir)
}

func (c repositories) trusting() (Trusting, string, error) {
	dir, err := c.dir()
	if err == nil && c.s.opts.Trusting == nil {
		err = &unsupported{"deciding about trust here; use lathe trust where the server runs"}
	}
	return c.s.opts.Trusting, dir, err
}

// list describes every directory that is trusted permanently.
func (c repositories) list() (any, error) {
	t, _, err := c.trusting()
	if err == nil {
		err = c.needAnywhere()
	}
	if err != nil {
		return nil, err
	}
	return t.List()
}

// decide trusts what the digest stands for. It is refused while a session works in the
// directory, because its rules would change.
func (c repositories) decide() (any, error) {
	t, dir, err := c.trusting()
	if err != nil {
		return nil, err
	}
	var in api.Decision
	if err := c.need(&in); err != nil {
		return nil, err
	}
	return true, c.change(dir, func(ctx context.Context) error { return t.Decide(ctx, dir, in) })
}

// withdraw withdraws decisions: about the request's directory, or about one that is
// named with "of" and may no longer exist.
func (c repositories) withdraw() (any, error) {
	t, dir, err := c.trusting()
	of := c.query("of")
	if err == nil && of != "" {
		err = c.needAnywhere()
	}
	if err != nil {
		return nil, err
	}
	dir = cmp.Or(of, dir)
	var out api.Withdrawn
	err = c.change(dir, func(ctx context.Context) (err error) {
		out, err = t.Withdraw(ctx, dir)
		return err
	})
	return out, err
}

// change applies a change and makes the directory's open instance be read again.
func (c repositories) change(dir string, change func(context.Context) error) error {
	if len(c.s.opts.Service.Statuses(dir)) > 0 {
		return lathe.Errorf(lathe.CodeBusy, "wait for it, or stop it", "a session is busy in %s", dir)
	}
	ctx := context.WithoutCancel(c.ctx())
	if err := change(ctx); err != nil {
		return err
	}
	return c.s.opts.Service.Dispose(ctx, dir)
}
