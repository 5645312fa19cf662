//go:build !otel

package telemetry

import (
	"context"
	"net/http"
	"time"
)

// Tracer does nothing in a binary that was built without the tag otel.
type Tracer struct{}

// Start returns nil, which is a Tracer that does nothing.
func Start(context.Context, Options) (*Tracer, error) { return nil, nil }

// Served does nothing.
func (*Tracer) Served(*http.Request, int, time.Time) {}

// Close does nothing.
func (*Tracer) Close(context.Context) error { return nil }
