package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"lathe"
	"lathe/internal/api"
)

// Export returns a session as a file. The caller reads it to its end, of whatever
// size it is, and closes it.
func (c sessions) Export(ctx context.Context, id lathe.SessionID, o api.Export) (io.ReadCloser, error) {
	q := url.Values{"format": {o.Format}, "sanitize": {strconv.FormatBool(o.Sanitize)}, "reverted": {strconv.FormatBool(o.Reverted)}}
	resp, err := c.request(ctx, http.MethodGet, "/lathe"+sessionPath(id)+"/export", q, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
