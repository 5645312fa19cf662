package client

import (
	"context"
	"net/url"
	"strconv"

	"lathe/internal/api"
)

// Search finds what was said and done in the directory's sessions, the best first.
func (c *Client) Search(ctx context.Context, words string, limit int) ([]api.Hit, error) {
	q := url.Values{"query": {words}, "limit": {strconv.Itoa(limit)}}
	return get(ctx, c, "/lathe/search", q, plain[[]api.Hit])
}
