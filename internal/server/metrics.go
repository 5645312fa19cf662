package server

import (
	"context"
	"io"
	"net/http"
)

// Metrics says what a server has counted, in Prometheus's text format.
type Metrics interface {
	WriteTo(ctx context.Context, w io.Writer) error
}

func metricsRoutes() []route {
	return []route{{http.MethodGet, "/metrics", (*call).metrics, line18}}
}

// metrics is for Prometheus. Who may call the server may read it.
func (c *call) metrics() (any, error) {
	if c.s.opts.Metrics == nil {
		return nil, notFound("this server does not count; start it with: lathe serve --metrics")
	}
	c.w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	c.w.Header().Set("Cache-Control", "no-store")
	return done{}, c.s.opts.Metrics.WriteTo(c.ctx(), c.w)
}
