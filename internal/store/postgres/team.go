package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"lathe"
)

// Team counts what a database has of people. Allowed is what they allowed for a while, and for
// good if it says who did.
type Team struct{ People, Tokens, Logins, Claims, Keys, Changes, Allowed int64 }

// teamTables are those of a team, which a store of one machine has not, or, as that of approvals,
// not whole: it has no names in it. Rows are carried with all that they hold.
var teamTables = []string{"person", "token", "login", "claim", "provider_key", "audit", "allowance", "approval"}

// teamNumbers are those of them that number their rows.
var teamNumbers = []string{"audit", "allowance"}

// Team returns what the database has of people.
func (d *DB) Team(ctx context.Context) (t Team, err error) {
	err = d.read(ctx, func(v *view) error {
		for i, n := range []*int64{&t.People, &t.Tokens, &t.Logins, &t.Claims, &t.Keys, &t.Changes} {
			if err := v.row(`SELECT count(*) FROM ` + teamTables[i]).Scan(n); err != nil {
				return err
			}
		}
		return v.row(`SELECT (SELECT count(*) FROM allowance WHERE until > clock_timestamp()) + (SELECT count(*) FROM approval WHERE person <> '')`).Scan(&t.Allowed)
	})
	return t, err
}

// CarryTeam carries the people of a database, with all that is theirs, to the one that is being
// filled, in one transaction. It comes before the sessions, so that there is no moment at which
// they are everybody's. What an earlier move left is replaced; the error says so if the target
// has people of its own.
func (c *Filling) CarryTeam(ctx context.Context, from *DB) error {
	own, err := c.Team(ctx)
	switch {
	case err != nil:
		return err
	case own.People > 0 && !c.resumed:
		return lathe.Errorf(lathe.CodeInvalid, "name a new one: createdb", "the database %s is not empty: it has %d people of its own", c.where, own.People)
	}
	src, err := from.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return from.explain(err)
	}
	defer func() { _ = src.Rollback(context.WithoutCancel(ctx)) }() // it only read
	dst, err := c.pool.Begin(ctx)
	if err != nil {
		return c.explain(err)
	}
	defer func() { _ = dst.Rollback(context.WithoutCancel(ctx)) }() // nothing, once it is committed
	if _, err := dst.Exec(ctx, `TRUNCATE `+strings.Join(teamTables, ", ")); err != nil {
		return c.explain(err)
	}
	for _, table := range teamTables {
		if err := copyTable(ctx, src, dst, table); err != nil {
			return fmt.Errorf("carry %s: %w", table, c.explain(err))
		}
	}
	for _, table := range teamNumbers {
		if _, err := dst.Exec(ctx, `SELECT setval(pg_get_serial_sequence('`+table+`', 'n'), coalesce((SELECT max(n) FROM `+table+`), 0) + 1, false)`); err != nil {
			return c.explain(err)
		}
	}
	return c.explain(dst.Commit(ctx))
}

// copyTable copies the rows of a table, and compares the two.
func copyTable(ctx context.Context, src, dst pgx.Tx, table string) error {
	var names []string
	if err := src.QueryRow(ctx, `SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped`, table).Scan(&names); err != nil {
		return err
	}
	all := strings.Join(names, ", ")
	rows, err := src.Query(ctx, `SELECT `+all+` FROM `+table)
	if err != nil {
		return err
	}
	_, err = dst.CopyFrom(ctx, pgx.Identifier{table}, names, rows)
	rows.Close()
	if err == nil {
		err = rows.Err()
	}
	if err != nil {
		return err
	}
	var sums [2]string
	for i, tx := range []pgx.Tx{src, dst} {
		if _, err := tx.Exec(ctx, `SET LOCAL TIME ZONE 'UTC'`); err != nil {
			return err
		}
		sum := `SELECT count(*) || ' ' || coalesce(sum(hashtext(row(` + all + `)::text)::bigint), 0) FROM ` + table
		if err := tx.QueryRow(ctx, sum).Scan(&sums[i]); err != nil {
			return err
		}
	}
	if sums[0] != sums[1] {
		return fmt.Errorf("the rows differ: %s and %s", sums[0], sums[1])
	}
	return nil
}
