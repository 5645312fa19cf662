package server

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/session"
	"lathe/internal/workspace"
)

type health struct {
	Healthy bool   `json:"healthy"`
	Version string `json:"version"`
	State   string `json:"state"`
}

// health answers 503 once the server is about to stop, so that what balances
// between servers sends no more.
func (c *call) health() (any, error) {
	h := health{true, lathe.Version, c.s.state()}
	if c.s.draining.Load() {
		h.Healthy = false
		c.s.reply(c.w, c.r, http.StatusServiceUnavailable, h)
		return done{}, nil
	}
	return h, nil
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

func (c *call) projectList() (any, error) {
	if _, _, err := c.instance(); err != nil { // opening it makes it known
		return nil, err
	}
	all, err := c.s.opts.Store.Projects(c.ctx())
	return wire.EncodeProjects(all), err
}

func (c *call) projectCurrent() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	p, err := c.s.opts.Store.Project(c.ctx(), inst.Project.ID)
	if err != nil {
		p, err = inst.Project, nil
	}
	return wire.EncodeProject(p), err
}

// projectUpdate refuses what lathe does not keep: names, icons and start commands
// of projects.
func (c *call) projectUpdate() (any, error) {
	var in map[string]any
	if err := c.need(&in); err != nil {
		return nil, err
	}
	p, err := c.s.opts.Store.Project(c.ctx(), c.r.PathValue("projectID"))
	if err != nil {
		return nil, notFound("Project not found: %s", clip(c.r.PathValue("projectID"), 80))
	}
	if len(in) > 0 {
		return nil, &unsupported{"names, icons and commands of projects"}
	}
	return wire.EncodeProject(p), nil
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

type vcsOut struct {
	Branch  string `json:"branch"`
	Default string `json:"default_branch,omitempty"` // 1.18
}

// vcs reads the branch from the git directory; a detached head has none.
func (c *call) vcs() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	return vcsOut{branch(inst), mainBranch(inst)}, nil
}

func branch(inst *session.Instance) string {
	if inst.Root.GitDir == "" {
		return ""
	}
	head, err := workspace.ReadFile(filepath.Join(inst.Root.GitDir, "HEAD"), 4096)
	if err != nil {
		return ""
	}
	name, _ := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if strings.HasPrefix(string(head), "ref: ") {
		return name
	}
	return ""
}

// mainBranch is what the remote calls its branch, or the one that has the usual
// name.
func mainBranch(inst *session.Instance) string {
	if inst.Root.GitDir == "" {
		return ""
	}
	read := func(parts ...string) string {
		data, err := workspace.ReadFile(filepath.Join(append([]string{inst.Root.GitDir}, parts...)...), 1<<20)
		if err != nil {
			return ""
		}
		return string(data)
	}
	if name, ok := strings.CutPrefix(strings.TrimSpace(read("refs", "remotes", "origin", "HEAD")), "ref: refs/remotes/origin/"); ok {
		return name
	}
	packed := read("packed-refs")
	for _, name := range []string{"main", "master"} {
		if read("refs", "heads", name) != "" || strings.Contains(packed, " refs/heads/"+name+"\n") {
			return name
		}
	}
	return ""
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

func emptyObject(c *call) (any, error) {
	_, err := c.dir()
	return struct{}{}, err
}

// not returns a handler for what lathe does not support.
func not(what string) handler {
	return func(*call) (any, error) { return nil, &unsupported{what} }
}

func noServer(c *call) (any, error) {
	return nil, notFound("MCP server not found: %s", clip(c.r.PathValue("name"), 80))
}

func noRoute(c *call) (any, error) {
	return nil, notFound("there is no %s %s here; GET /doc lists what there is", clip(c.r.Method, 10), clip(c.r.URL.Path, 200))
}
