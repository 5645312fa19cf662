package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/instance"
	"lathe/internal/stats"
	"lathe/internal/store"
)

// reports answers what people ask about everything stored.
type reports struct{ *call }

func reportRoutes() []route {
	return []route{
		{http.MethodGet, "/lathe/search", on(reports.search), ""},
		{http.MethodGet, "/lathe/search/index", on(reports.searchIndex), ""},
		{http.MethodGet, "/lathe/stats", on(reports.stats), ""},
	}
}

// search finds what was said and done: in one session, in those of the directory, or
// everywhere. What is new is indexed first; a client that leaves interrupts that,
// and the next search continues it.
func (c reports) search() (any, error) {
	f := store.SearchFilter{Session: lathe.SessionID(c.query("session"))}
	if f.Session == "" {
		var err error
		if f.Directory, err = c.scope(); err != nil {
			return nil, err
		}
	}
	limit, err := c.number("limit")
	if err != nil {
		return nil, err
	}
	f.Limit = int(min(limit, 1<<20))
	words := strings.TrimSpace(c.query("query"))
	if words == "" {
		return []api.Hit{}, nil
	}
	kept := c.s.opts.Store
	if !kept.ReadOnly() {
		if _, err := kept.Index(c.ctx()); err != nil {
			return nil, err
		}
	}
	hits, err := kept.Search(c.ctx(), words, f)
	out := make([]api.Hit, 0, len(hits))
	for _, h := range hits {
		out = append(out, api.Hit{
			Session: h.Session.ID, Message: h.Message, Part: h.Part, Title: h.Session.Title, Updated: h.Session.Updated.UnixMilli(),
			Role: h.Role, Kind: h.Kind, Text: h.Snippet,
		})
	}
	return out, err
}

// searchIndex answers how much the next search has to take into the index.
func (c reports) searchIndex() (any, error) {
	n, err := c.s.opts.Store.Unindexed(c.ctx())
	return api.SearchIndex{Pending: n, ReadOnly: c.s.opts.Store.ReadOnly()}, err
}

// stats sums what sessions used.
func (c reports) stats() (any, error) {
	since, err := c.number("since")
	if err == nil {
		err = c.needAnywhere()
	}
	if err != nil {
		return nil, err
	}
	f := api.StatsFilter{Directory: c.query("of")}
	if since > 0 {
		f.Since = time.UnixMilli(since)
	}
	hooks := instance.HookRecords(c.s.opts.Paths)
	return stats.Gather(c.ctx(), stats.Options{Store: c.s.opts.Store, Windows: c.s.window, Models: c.s.opts.Catalog, Hooks: hooks.Sum}, f)
}

// window is a [stats.Windows].
func (s *Server) window(ctx context.Context, id lathe.SessionID) (api.WindowStats, lathe.ModelRef, bool, error) {
	sess, err := s.opts.Service.Get(ctx, id)
	if lathe.CodeOf(err) == lathe.CodeNotFound {
		return api.WindowStats{}, lathe.ModelRef{}, false, nil // it was deleted
	}
	if err != nil {
		return api.WindowStats{}, lathe.ModelRef{}, false, err
	}
	w, err := s.opts.Service.Windows.Stats(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return w, sess.Model, true, err
}
