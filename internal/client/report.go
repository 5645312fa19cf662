package client

import (
	"context"
	"net/url"
	"strconv"

	"lathe/internal/api"
)

// Search finds what was said and done in sessions, the best first.
func (c sessions) Search(ctx context.Context, s api.Search) ([]api.Hit, error) {
	q := url.Values{"query": {s.Words}}
	if s.Limit > 0 {
		q.Set("limit", strconv.Itoa(s.Limit))
	}
	if s.Session != "" {
		q.Set("session", string(s.Session))
	}
	if s.Everywhere {
		q.Set("everywhere", "true")
	}
	return get(ctx, c.conn, "/lathe/search", q, plain[[]api.Hit])
}

// SearchIndex returns how far the index is behind: the next search indexes that first,
// which takes a while if it is much.
func (c sessions) SearchIndex(ctx context.Context) (api.SearchIndex, error) {
	return get(ctx, c.conn, "/lathe/search/index", nil, plain[api.SearchIndex])
}

// Stats sums what sessions of every directory used.
func (c sessions) Stats(ctx context.Context, f api.StatsFilter) (*api.Stats, error) {
	q := url.Values{}
	if !f.Since.IsZero() {
		q.Set("since", strconv.FormatInt(f.Since.UnixMilli(), 10))
	}
	if f.Directory != "" {
		q.Set("of", f.Directory)
	}
	return get(ctx, c.conn, "/lathe/stats", q, plain[*api.Stats])
}
