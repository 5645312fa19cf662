package postgres

import "context"

// Figures are what this server is doing with the database, and what waits in it.
type Figures struct {
	Connections, MostConnections int
	Leases                       int // that this server holds
	Servers                      int // that live, of all that hold something
	Waiting                      int // requests that no worker has taken
	WaitingSeconds               float64
	Working                      int // requests that workers are doing
	EventLag                     int64
}

// Figures asks for them with one query.
func (d *DB) Figures(ctx context.Context) (f Figures, err error) {
	st := d.pool.Stat()
	f.Connections, f.MostConnections = int(st.TotalConns()), int(st.MaxConns())
	d.heart.mu.Lock()
	f.Leases = len(d.heart.held)
	d.heart.mu.Unlock()
	seen, _ := d.journal.at()
	err = d.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM owner WHERE expires > clock_timestamp()),
		(SELECT count(*) FROM work WHERE ended IS NULL AND taken IS NULL),
		coalesce((SELECT extract(epoch FROM clock_timestamp() - min(added)) FROM work WHERE ended IS NULL AND taken IS NULL), 0)::float8,
		(SELECT count(*) FROM work WHERE ended IS NULL AND taken IS NOT NULL),
		greatest(coalesce((SELECT max(n) FROM event), 0) - $1, 0)`, seen).Scan(&f.Servers, &f.Waiting, &f.WaitingSeconds, &f.Working, &f.EventLag)
	return f, d.explain(err)
}
