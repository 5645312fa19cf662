package server

import (
	"context"
	"net/http"
	"strings"

	"lathe"
)

// Drain refuses requests that would start work from now on: the server is about
// to stop. Running work can still be followed, answered and aborted.
func (s *Server) Drain() { s.draining.Store(true) }

// leaving reports whether the server is about to stop, or stops: what ends with it has not
// ended by itself.
func (s *Server) leaving() bool { return s.draining.Load() || s.ctx.Err() != nil }

// refuses reports whether a server that is about to stop turns a request away.
func (s *Server) refuses(r *http.Request) bool {
	return s.draining.Load() && r.Method != http.MethodGet && r.Method != http.MethodHead && !settles(r.Pattern)
}

// settles reports whether a route helps running turns to end.
func settles(pattern string) bool {
	_, path, _ := strings.Cut(pattern, " ")
	switch path {
	case "/session/{sessionID}/abort", "/session/{sessionID}/permissions/{permissionID}", "/log", "/tui/control/response",
		"/permission/{requestID}/reply", "/question/{requestID}/reply", "/question/{requestID}/reject":
		return true
	}
	return false
}

// Farewell tells all clients that the instances of the given directories are
// gone. Closing the bus afterwards ends their streams after that event.
func (s *Server) Farewell(dirs []string) {
	for _, dir := range dirs {
		s.opts.Bus.Publish(dir, lathe.InstanceDisposed{Directory: dir})
	}
	s.opts.Bus.Publish("", lathe.ClientEvent{Type: "global.disposed", Properties: []byte("{}")})
}

// state is what a health check returns: "ready" or "draining".
func (s *Server) state() string {
	if s.draining.Load() {
		return "draining"
	}
	return "ready"
}

// Stop ends the server in order: running answers and streams have until the
// context ends, then their connections are closed. Close the bus first, so that
// streams end by themselves.
func (s *Server) Stop(ctx context.Context, hs *http.Server) error {
	s.Drain()
	err := s.closeTerminals()
	if late := hs.Shutdown(ctx); late != nil {
		_ = hs.Close()
	}
	if end := s.Close(); err == nil {
		err = end
	}
	return err
}
