package server

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/people"
	"lathe/internal/store"
	"lathe/internal/workspace"
)

// reach says which directories requests may name. A caller over TCP without a
// password may be any program on this machine: it gets the directory that the
// server was started in, those that the configuration lists and the projects that
// lathe knows, including what is below them. With a password it may name any
// directory, or only the configured ones if there are any. Private sockets and this
// process itself are the person, who may work anywhere.
type reach struct {
	mu    sync.Mutex
	start []string        // resolved: where the server was started, with its checkout, and what is configured
	fine  map[string]bool // directories that passed
}

// asks reports whether callers have to say who they are.
func (s *Server) asks() bool { return s.opts.Password != "" || s.rights != nil }

// anywhere reports whether a request may be about any directory.
func (c *call) anywhere() bool {
	o := &c.s.opts
	addr, _ := c.r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	switch {
	case o.Trusted:
		return true
	case c.restricted():
		return false
	}
	return addr != nil && addr.Network() == "unix" || c.s.asks() && len(o.Directories) == 0
}

// needAnywhere refuses information about every directory to callers who may not use them all.
func (c *call) needAnywhere() error {
	if c.anywhere() && !people.IsNarrow(c.ctx()) {
		return nil
	}
	return lathe.Errorf(lathe.CodePermission, "give the server a password with --password-file, or use its private socket",
		"this server tells of every directory only to its own user")
}

// mayUse says what is wrong with a directory that a request names.
func (c *call) mayUse(dir string) error {
	if g, named := c.granted(); named && len(g.Projects) > 0 {
		if err := mayWorkIn(g, dir); err != nil || len(c.s.opts.Directories) == 0 {
			return err
		}
	}
	if c.anywhere() || dir == c.s.opts.Dir {
		return nil
	}
	real, err := workspace.Resolve(dir)
	if err == nil && c.s.reach.allows(c.ctx(), c.s, dir, real) {
		return nil
	}
	if c.offered(dir) && (!c.s.asks() || len(c.s.opts.Directories) == 0) { // to be worked in
		return nil
	}
	return lathe.Errorf(lathe.CodePermission,
		"start one there, list the directory in server.directories of your configuration, or give the server a password with --password-file",
		"this server does not work in %q, where lathe knows no project", dir)
}

// mostFine bounds how many directories are remembered.
const mostFine = 1000

func (a *reach) allows(ctx context.Context, s *Server, dir, real string) bool {
	a.mu.Lock()
	if a.start == nil {
		a.start = places(ctx, s.opts)
	}
	start, fine := a.start, a.fine[real]
	a.mu.Unlock()
	if fine || slices.ContainsFunc(start, func(top string) bool { return beneath(top, real) }) {
		return true
	}
	if own := s.own().open; own != "" && beneath(own, real) {
		return true
	}
	if s.asks() || !known(ctx, s, dir, real) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fine == nil || len(a.fine) >= mostFine {
		a.fine = map[string]bool{}
	}
	a.fine[real] = true
	return true
}

// places returns the directories in which requests may always work.
func places(ctx context.Context, o Options) []string {
	out := []string{}
	for _, dir := range append([]string{o.Dir}, o.Directories...) {
		if real, err := workspace.Resolve(dir); err == nil {
			out = append(out, real)
		}
	}
	if root, err := workspace.Find(ctx, o.Dir); err == nil && root.TopLevel != "/" {
		out = append(out, root.TopLevel)
	}
	return out
}

// known reports whether a directory lies in a project that lathe knows, or has
// sessions of its own.
func known(ctx context.Context, s *Server, dir, real string) bool {
	projects, err := s.opts.Store.Projects(ctx)
	if err != nil {
		return false
	}
	for _, p := range projects {
		if top, err := workspace.Resolve(p.Worktree); err == nil && top != "/" && beneath(top, real) {
			return true
		}
	}
	for _, at := range []string{dir, real} {
		if list, err := s.opts.Service.List(ctx, store.SessionFilter{Directory: at, Limit: 1}); err == nil && len(list) > 0 {
			return true
		}
	}
	return false
}
