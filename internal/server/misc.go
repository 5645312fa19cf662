package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"lathe"
	"lathe/internal/sandbox"
)

type health struct {
	Healthy bool   `json:"healthy"`
	Version string `json:"version"`
	State   string `json:"state"`
	Sandbox string `json:"sandbox,omitempty"` // how far commands are confined, once that was found
	Message string `json:"message,omitempty"` // what is wrong, and what to do
}

// health answers 503 once the server is about to stop, so that a load balancer
// sends no more, and while nothing can be stored.
func (c *call) health() (any, error) {
	h := health{Healthy: true, Version: lathe.Version, State: c.s.state(), Sandbox: sandbox.Found()}
	if !c.s.draining.Load() {
		c.storage(&h)
	}
	if c.s.draining.Load() || h.Message != "" {
		h.Healthy = false
		c.s.reply(c.w, c.r, http.StatusServiceUnavailable, h)
		return done{}, nil
	}
	return h, nil
}

// storage says why nothing can be stored, if the last write found that and it is
// still so.
func (c *call) storage(h *health) {
	store := c.s.opts.Store
	if store.Trouble() == nil || store.Probe(c.ctx()) == nil {
		return
	}
	if e, ok := errors.AsType[*lathe.Error](store.Trouble()); ok {
		h.State, h.Message = string(e.Code), e.Msg+"; "+e.Hint
	}
}

// globalDispose forgets every instance and says so.
func (c *call) globalDispose() (any, error) {
	err := c.s.disposeAll(context.WithoutCancel(c.ctx()))
	c.s.opts.Bus.Publish("", lathe.ClientEvent{Type: "global.disposed", Properties: []byte("{}")})
	return true, err
}

func (c *call) instanceDispose() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return true, c.s.opts.Service.Dispose(context.WithoutCancel(c.ctx()), dir)
}

type pathOut struct {
	Home      string `json:"home"`
	State     string `json:"state"`
	Config    string `json:"config"`
	Worktree  string `json:"worktree"`
	Directory string `json:"directory"`
}

func (c *call) path() (any, error) {
	inst, dir, err := c.instance()
	if err != nil {
		return nil, err
	}
	p := c.s.opts.Paths
	return pathOut{p.Home, p.State, p.Config, inst.Root.Worktree, dir}, nil
}

func (c *call) log() (any, error) {
	var in struct {
		Service, Level, Message string
		Extra                   map[string]any
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("service", in.Service, "level", in.Level, "message", in.Message); err != nil {
		return nil, err
	}
	level, ok := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}[in.Level]
	if !ok {
		return nil, &invalid{where: "Payload", path: []string{"level"}, msg: "expected debug, info, warn or error"}
	}
	c.s.opts.Log.Log(c.ctx(), level, "client says", "id", c.w.id, "service", clip(in.Service, 80), "text", clip(in.Message, 2000))
	return true, nil
}

func emptyList(c *call) (any, error) {
	_, err := c.dir()
	return []any{}, err
}

// not returns a handler that refuses what lathe does not support.
func not(what string) handler {
	return func(*call) (any, error) { return nil, &unsupported{what} }
}

func noRoute(c *call) (any, error) {
	return nil, notFound("there is no %s %s here; GET /doc lists what there is", clip(c.r.Method, 10), clip(c.r.URL.Path, 200))
}
