package server

import (
	"strings"

	"lathe/internal/api"
	"lathe/internal/store"
)

// maxHits bounds what a search answers with.
const maxHits = 100

// search finds what was said and done in the directory's sessions. What is new
// is taken into the index first; a client that leaves interrupts that, and the
// next search goes on with it.
func (c faces) search() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	limit, err := c.limit(maxHits)
	if err != nil {
		return nil, err
	}
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
	hits, err := kept.Search(c.ctx(), words, store.SearchFilter{Directory: dir, Limit: int(limit)})
	out := make([]api.Hit, 0, len(hits))
	for _, h := range hits {
		out = append(out, api.Hit{
			Session: h.Session.ID, Message: h.Message, Title: h.Session.Title, Updated: h.Session.Updated.UnixMilli(),
			Role: h.Role, Kind: h.Kind, Text: h.Snippet,
		})
	}
	return out, err
}
