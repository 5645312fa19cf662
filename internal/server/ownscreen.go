package server

import (
	"context"
	"net/http"
	"strconv"

	"lathe"
	"lathe/internal/api"
)

// Trusting keeps the person's decisions about repositories. Directories are those
// that requests are about.
type Trusting interface {
	State(ctx context.Context, dir string) (api.Trust, error)
	// Decide trusts what a digest stands for, for good or for this process. It
	// fails when the files are others by now.
	Decide(ctx context.Context, dir string, d api.Decision) error
	// Withdraw takes every decision about a directory back.
	Withdraw(ctx context.Context, dir string) error
}

// screenRoutes are what the screen asks for beside the other own routes.
func (s *Server) screenRoutes() []route {
	return append(approvalRoutes(), []route{
		{http.MethodGet, "/lathe/setup", on(faces.setup), ""},
		{http.MethodGet, "/lathe/found", on(faces.found), ""},
		{http.MethodPost, "/lathe/provider/{providerID}/test", on(faces.keyTest), ""},
		{http.MethodGet, "/lathe/session/{sessionID}/weight", on(faces.weight), ""},
		{http.MethodGet, "/lathe/session/{sessionID}/replay", on(faces.replay), ""},
		{http.MethodGet, "/lathe/trust", on(faces.trustState), ""},
		{http.MethodPost, "/lathe/trust/decision", on(faces.trustDecide), ""},
		{http.MethodDelete, "/lathe/trust/decision", on(faces.trustWithdraw), ""},
	}...)
}

// weight tells what a session would send next, and what it cost.
func (c faces) weight() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Window(c.ctx(), sess.ID)
}

// replay tells what the requests of a session were: what each had beside the one before,
// or with "step", all of that one.
func (c faces) replay() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	step := 0
	if said := c.query("step"); said != "" {
		if step, err = strconv.Atoi(said); err != nil || step < 1 {
			return nil, lathe.Errorf(lathe.CodeInvalid, "requests are numbered from 1", "%q is not the number of a request", said)
		}
	}
	return c.s.opts.Service.Replay(c.ctx(), sess.ID, step)
}

func (c faces) trustState() (any, error) {
	t, dir, err := c.trusting()
	if err != nil {
		return nil, err
	}
	return t.State(c.ctx(), dir)
}

func (c faces) trusting() (Trusting, string, error) {
	dir, err := c.dir()
	if err == nil && c.s.opts.Trusting == nil {
		err = &unsupported{"deciding about trust here; use lathe trust where the server runs"}
	}
	return c.s.opts.Trusting, dir, err
}

// trustDecide trusts what the digest stands for. It is refused while a session
// works in the directory, whose rules would change.
func (c faces) trustDecide() (any, error) {
	t, dir, err := c.trusting()
	if err != nil {
		return nil, err
	}
	var in api.Decision
	if err := c.need(&in); err != nil {
		return nil, err
	}
	return c.trustChanged(dir, func(ctx context.Context) error { return t.Decide(ctx, dir, in) })
}

func (c faces) trustWithdraw() (any, error) {
	t, dir, err := c.trusting()
	if err != nil {
		return nil, err
	}
	return c.trustChanged(dir, func(ctx context.Context) error { return t.Withdraw(ctx, dir) })
}

func (c faces) trustChanged(dir string, change func(context.Context) error) (any, error) {
	if len(c.s.opts.Service.Statuses(dir)) > 0 {
		return nil, lathe.Errorf(lathe.CodeBusy, "wait for it, or stop it", "a session is busy in %s", dir)
	}
	ctx := context.WithoutCancel(c.ctx())
	if err := change(ctx); err != nil {
		return nil, err
	}
	return true, c.s.opts.Service.Dispose(ctx, dir)
}

// setup tells how lathe is set up for the directory.
func (c faces) setup() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	out := inst.Setup(c.ctx())
	credentials := api.Check{Name: "credentials", OK: true, Detail: "auth.json can be read"}
	if _, err := c.s.opts.Auth.All(); err != nil {
		credentials.OK, credentials.Detail = false, err.Error()
	}
	out.Checks = append(out.Checks, credentials)
	return out, nil
}

// found tells what can answer.
func (c faces) found() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	return inst.Models.Found(c.ctx())
}

// keyTest asks a model of a provider for one word and says what came back.
func (c faces) keyTest() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	return inst.Models.TestKey(c.ctx(), c.r.PathValue("providerID"))
}
