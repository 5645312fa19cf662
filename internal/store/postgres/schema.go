package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"lathe"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schema is the version that the newest migration leads to.
const schema = 4

// upgrade brings the tables up to date. The usual case is one query.
func (c *core) upgrade(ctx context.Context) error {
	v, err := c.version(ctx)
	if err != nil || v == schema {
		return err
	}
	if v > schema {
		return lathe.Errorf(lathe.CodeInvalid, "update lathe, or name another database; nothing was touched",
			"the database %s has schema %d, made by a newer lathe; this one (%s) knows up to %d", c.where, v, lathe.Version, schema)
	}
	// Other servers wait for the lock, which ends with its transaction.
	b, err := c.begin(ctx, "BEGIN")
	if err != nil {
		return err
	}
	defer b.rollback(context.WithoutCancel(ctx))
	if _, err := b.conn.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext(coalesce(current_schema(), '') || '.migrate'))`); err != nil {
		return fmt.Errorf("lock the database %s for migration: %w", c.where, err)
	}
	if v, err = c.version(ctx); err != nil || v >= schema { // another server was first
		return err
	}
	return c.migrate(ctx)
}

// version returns the schema of the tables, 0 if there are none.
func (c *core) version(ctx context.Context) (v int64, err error) {
	err = c.retry(ctx, func(ctx context.Context) error {
		return c.pool.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&v)
	})
	if state(err) == noTable {
		return 0, nil
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("read the schema of the database %s: %w", c.where, err)
	}
	return v, nil
}

func (c *core) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(c.pool)
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithLogger(goose.NopLogger()))
	if err == nil {
		_, err = p.Up(ctx)
	}
	if err != nil {
		return fmt.Errorf("migrate the database %s to schema %d: %w", c.where, schema, err)
	}
	return nil
}
