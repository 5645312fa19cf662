package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe/internal/store"
)

// logins is a [store.Logins].
type logins struct{ *core }

// overLogins removes those that have long been over. Who logged in stands in the audit.
const overLogins = `DELETE FROM login WHERE coalesce(ended, expires) < clock_timestamp() - interval '30 days'`

// AddLogin implements [store.Logins].
func (l logins) AddLogin(ctx context.Context, in store.Login, hash []byte) error {
	err := l.again(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO login (hash, id, person, token, proof, role, expires) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			hash, in.ID, clean(in.Person), in.Token, in.Proof, in.Role, in.Expires)
		if err == nil {
			_, err = tx.exec(`UPDATE login SET ended = clock_timestamp() WHERE hash IN (
				SELECT hash FROM login WHERE person = $1 AND ended IS NULL AND expires > clock_timestamp() ORDER BY created DESC OFFSET $2)`, clean(in.Person), store.MostLogins)
		}
		if err == nil {
			_, err = tx.exec(overLogins)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("store a login: %w", err)
	}
	return nil
}

const loginColumns = `id, person, token, proof, role, created, expires, used`

func scanLogin(row pgx.Row) (in store.Login, err error) {
	var used *time.Time
	err = row.Scan(&in.ID, &in.Person, &in.Token, &in.Proof, &in.Role, &in.Created, &in.Expires, &used)
	in.Used = orZero(used)
	return in, err
}

// Login implements [store.Logins]. That it was used is noted once a minute.
func (l logins) Login(ctx context.Context, hash []byte) (in store.Login, err error) {
	err = l.retry(ctx, func(ctx context.Context) error {
		in, err = scanLogin(l.pool.QueryRow(ctx, `SELECT `+loginColumns+` FROM login WHERE hash = $1 AND ended IS NULL AND expires > clock_timestamp()`, hash))
		return err
	})
	if err != nil {
		return store.Login{}, l.explain(missing(err))
	}
	if time.Since(in.Used) > time.Minute {
		_, _ = l.pool.Exec(ctx, `UPDATE login SET used = clock_timestamp() WHERE hash = $1`, hash) // a replica cannot
	}
	return in, nil
}

// Logins implements [store.Logins].
func (l logins) Logins(ctx context.Context, person string) (all []store.Login, err error) {
	err = l.read(ctx, func(v *view) error {
		return v.rows(func(row pgx.Row) error {
			in, err := scanLogin(row)
			all = append(all, in)
			return err
		}, `SELECT `+loginColumns+` FROM login WHERE ended IS NULL AND expires > clock_timestamp() AND ($1 = '' OR person = $1) ORDER BY created DESC, id`, clean(person))
	})
	if err != nil {
		return nil, fmt.Errorf("list logins: %w", err)
	}
	return all, nil
}

// EndLogin implements [store.Logins].
func (l logins) EndLogin(ctx context.Context, id string) error {
	return l.again(ctx, func(tx *tx) error {
		return tx.change(`UPDATE login SET ended = coalesce(ended, clock_timestamp()) WHERE id = $1`, clean(id))
	})
}
