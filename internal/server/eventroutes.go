package server

import (
	"context"

	"lathe/internal/server/events"
	"lathe/internal/store"
)

func (c *call) eventStream() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return c.streamed(c.s.events.Serve(c.w, c.r, dir, false))
}

func (c *call) globalEventStream() (any, error) {
	return c.streamed(c.s.events.Serve(c.w, c.r, "", true))
}

// events is the stream of events for lathe's own faces: those of a directory, or of
// all, if that was asked for.
func (c faces) events() (any, error) {
	dir, err := c.scope()
	if err != nil {
		return nil, err
	}
	return c.streamed(c.s.events.ServeOwn(c.w, c.r, dir))
}

// streamed is the answer of a route whose stream has ended.
func (c *call) streamed(err error) (any, error) {
	switch {
	case events.TooSlow(err):
		c.s.opts.Log.Warn("event stream closed: the client is too slow", "id", c.w.id)
	case err != nil && c.w.status == 0:
		return nil, err
	}
	return done{}, nil
}

// settle waits until the events of a request's session are on their way to those who
// follow them.
func (c *call) settle() {
	if sess, err := c.session(); err == nil {
		c.s.events.Settle(c.ctx(), sess.Directory)
	}
}

// projectOf returns the project of a directory whose instance is open, else "".
func (s *Server) projectOf(ctx context.Context, dir string) string {
	if inst := s.opts.Service.Instances.Opened(ctx, dir); inst != nil {
		return inst.Project.ID
	}
	return ""
}

// journalOf returns the journal of a store, or nil.
func journalOf(st *store.Store) events.Journal {
	if st == nil || st.Journal == nil {
		return nil
	}
	return st.Journal
}
