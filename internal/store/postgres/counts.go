package postgres

import (
	"context"
	"fmt"
)

// Counts says how much a database holds.
type Counts struct {
	Server                              string // version
	Schema                              int64
	Projects, Sessions, Messages, Parts int64
	Bytes                               int64
}

// Counts counts what the database holds.
func (d *DB) Counts(ctx context.Context) (c Counts, err error) {
	err = d.read(ctx, func(v *view) error {
		return v.row(`SELECT current_setting('server_version'), (SELECT max(version_id) FROM goose_db_version WHERE is_applied), (SELECT count(*) FROM project),
			(SELECT count(*) FROM session), (SELECT count(*) FROM message), (SELECT count(*) FROM part),
			(SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
				WHERE n.nspname = current_schema() AND c.relkind = 'r')`).
			Scan(&c.Server, &c.Schema, &c.Projects, &c.Sessions, &c.Messages, &c.Parts, &c.Bytes)
	})
	if err != nil {
		return c, fmt.Errorf("count rows: %w", err)
	}
	return c, nil
}
