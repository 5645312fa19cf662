package app

import (
	"context"
	"lathe/internal/metrics"
)

// Metrics counts what happens from now on. Close it.
func (a *App) Metrics() *metrics.Recorder {
	o := metrics.Options{Bus: a.Bus, Now: a.Env.Now}
	if a.DB.Shared != nil {
		o.Figures = func(ctx context.Context) ([]metrics.Figure, error) { return a.shared(ctx) }
	}
	return metrics.New(o)
}

// shared are the figures of the database that servers share.
func (a *App) shared(ctx context.Context) ([]metrics.Figure, error) {
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
