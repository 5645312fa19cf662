package serve

import (
	"context"
	"net/http"
	"time"

	"lathe/internal/cli/app"
	"lathe/internal/metrics"
)

// newMetrics returns what counts for --metrics, nil without it.
func newMetrics(a *app.App, on bool) *metrics.Recorder {
	if !on {
		return nil
	}
	o := metrics.Options{Bus: a.Bus, Now: a.Env.Now}
	if a.DB.Shared != nil {
		o.Figures = func(ctx context.Context) ([]metrics.Figure, error) { return shared(ctx, a) }
	}
	return metrics.New(o)
}

// shared are the figures of the database that servers share.
func shared(ctx context.Context, a *app.App) ([]metrics.Figure, error) {
	f, err := a.DB.Shared.Figures(ctx)
	if err != nil {
		return nil, err
	}
	return []metrics.Figure{
		{Name: "lathe_store_connections", Help: "Connections to the database.", Value: float64(f.Connections)},
		{Name: "lathe_store_connections_max", Help: "Connections that may be opened.", Value: float64(f.MostConnections)},
		{Name: "lathe_leases", Help: "Sessions that this server holds.", Value: float64(f.Leases)},
		{Name: "lathe_servers", Help: "Servers and workers that hold something.", Value: float64(f.Servers)},
		{Name: "lathe_queue_waiting", Help: "Requests that no worker has taken.", Value: float64(f.Waiting)},
		{Name: "lathe_queue_oldest_seconds", Help: "How long the oldest of them has waited.", Value: f.WaitingSeconds},
		{Name: "lathe_queue_working", Help: "Requests that workers are doing.", Value: float64(f.Working)},
		{Name: "lathe_event_lag", Help: "Events of the journal that this server has not read.", Value: float64(f.EventLag)},
	}, nil
}

// both calls two observers of requests.
func both(one, other func(*http.Request, int, time.Time)) func(*http.Request, int, time.Time) {
	return func(r *http.Request, status int, start time.Time) {
		one(r, status, start)
		other(r, status, start)
	}
}
