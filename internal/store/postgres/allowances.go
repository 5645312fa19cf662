package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
)

// allowances is a [store.Allowances].
type allowances struct{ *core }

// Allowed implements [store.Allowances].
func (a allowances) Allowed(ctx context.Context, at store.Place) (all []store.Allowance, err error) {
	err = a.glance(ctx, func(v *view) error {
		return v.rows(func(row pgx.Row) error {
			var one store.Allowance
			var until *time.Time
			err := row.Scan(&one.Rule.Permission, &one.Rule.Pattern, &one.Rule.Action, &one.Person, &one.Given, &until)
			one.Until = orZero(until)
			all = append(all, one)
			return err
		}, `SELECT permission, pattern, action, person, to_timestamp(created / 1000.0) AS given, NULL::timestamptz FROM approval WHERE project = $1
			UNION ALL SELECT permission, pattern, $3, person, given, until FROM allowance WHERE project = $1 AND directory = $2 AND until > clock_timestamp()
			ORDER BY given, permission, pattern`, clean(at.Owner), clean(at.Directory), string(lathe.Allow))
	})
	if err != nil {
		return nil, fmt.Errorf("read what is allowed in %s: %w", at.Directory, err)
	}
	return all, nil
}

// Allow implements [store.Allowances]. What is over, it removes.
func (a allowances) Allow(ctx context.Context, at store.Place, rules []lathe.Rule, person string, lasts time.Duration) error {
	return a.again(ctx, func(tx *tx) error {
		if _, err := tx.exec(`DELETE FROM allowance WHERE until <= clock_timestamp()`); err != nil {
			return err
		}
		for _, r := range rules {
			if err := allow(tx, at, r, person, lasts); err != nil {
				return fmt.Errorf("allow %s %q: %w", r.Permission, r.Pattern, err)
			}
		}
		return nil
	})
}

func allow(tx *tx, at store.Place, r lathe.Rule, person string, lasts time.Duration) error {
	if lasts == 0 {
		if err := tx.PutApproval(at.Owner, r); err != nil {
			return err
		}
		_, err := tx.exec(`UPDATE approval SET person = $4 WHERE project = $1 AND permission = $2 AND pattern = $3`,
			clean(at.Owner), clean(r.Permission), clean(r.Pattern), clean(person))
		return err
	}
	if err := disallow(tx, at, r); err != nil {
		return err
	}
	_, err := tx.exec(`INSERT INTO allowance (project, directory, permission, pattern, person, until) VALUES ($1, $2, $3, $4, $5, clock_timestamp() + $6)`,
		clean(at.Owner), clean(at.Directory), clean(r.Permission), clean(r.Pattern), clean(person), lasts)
	return err
}

func disallow(tx *tx, at store.Place, r lathe.Rule) error {
	_, err := tx.exec(`DELETE FROM allowance WHERE project = $1 AND directory = $2 AND permission = $3 AND pattern = $4`,
		clean(at.Owner), clean(at.Directory), clean(r.Permission), clean(r.Pattern))
	return err
}

// Disallow implements [store.Allowances].
func (a allowances) Disallow(ctx context.Context, at store.Place, r lathe.Rule) error {
	return a.again(ctx, func(tx *tx) error {
		if err := tx.DeleteApproval(at.Owner, r); err != nil {
			return err
		}
		return disallow(tx, at, r)
	})
}
