package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
)

// people is a [store.People].
type people struct{ *core }

// PutPerson implements [store.People].
func (p people) PutPerson(ctx context.Context, in store.Person) error {
	projects := []string{}
	for _, dir := range in.Projects {
		projects = append(projects, clean(dir))
	}
	return p.again(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO person (name, role, projects) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET role = excluded.role, projects = excluded.projects`, clean(in.Name), in.Role, projects)
		return err
	})
}

// RemovePerson implements [store.People].
func (p people) RemovePerson(ctx context.Context, name string) error {
	return p.again(ctx, func(tx *tx) error {
		err := tx.change(`DELETE FROM person WHERE name = $1`, clean(name))
		if err == nil {
			_, err = tx.exec(`UPDATE token SET revoked = clock_timestamp() WHERE person = $1 AND revoked IS NULL`, clean(name))
		}
		if err == nil {
			_, err = tx.exec(`UPDATE login SET ended = clock_timestamp() WHERE person = $1 AND ended IS NULL`, clean(name))
		}
		if err == nil {
			_, err = tx.exec(`DELETE FROM claim WHERE person = $1`, clean(name))
		}
		return err
	})
}

// Person implements [store.People].
func (p people) Person(ctx context.Context, name string) (one store.Person, err error) {
	err = p.read(ctx, func(v *view) error {
		return v.row(`SELECT name, role, projects, created FROM person WHERE name = $1`, clean(name)).Scan(&one.Name, &one.Role, &one.Projects, &one.Created)
	})
	return one, missing(err)
}

// People implements [store.People].
func (p people) People(ctx context.Context) (all []store.Person, err error) {
	err = p.read(ctx, func(v *view) error {
		return v.rows(func(row pgx.Row) error {
			var one store.Person
			err := row.Scan(&one.Name, &one.Role, &one.Projects, &one.Created)
			all = append(all, one)
			return err
		}, `SELECT name, role, projects, created FROM person ORDER BY name`)
	})
	if err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	return all, nil
}

// AddToken implements [store.People].
func (p people) AddToken(ctx context.Context, t store.Token, hash []byte) error {
	return p.again(ctx, func(tx *tx) error {
		// Whoever removes the person meanwhile waits, and revokes it.
		var one int
		if err := tx.row(`SELECT 1 FROM person WHERE name = $1 FOR SHARE`, clean(t.Person)).Scan(&one); err != nil {
			return missing(err)
		}
		_, err := tx.exec(`INSERT INTO token (id, hash, person, role, expires) VALUES ($1, $2, $3, $4, $5)`, t.ID, hash, clean(t.Person), t.Role, orNull(t.Expires))
		return err
	})
}

// Tokens implements [store.People].
func (p people) Tokens(ctx context.Context, person string) (all []store.Token, err error) {
	err = p.read(ctx, func(v *view) error {
		return v.rows(func(row pgx.Row) error {
			var t store.Token
			var expires, used, revoked *time.Time
			err := row.Scan(&t.ID, &t.Person, &t.Role, &t.Created, &expires, &used, &revoked)
			t.Expires, t.Used, t.Revoked = orZero(expires), orZero(used), orZero(revoked)
			all = append(all, t)
			return err
		}, `SELECT id, person, role, created, expires, used, revoked FROM token WHERE $1 = '' OR person = $1 ORDER BY created DESC, id`, clean(person))
	})
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	return all, nil
}

// RevokeToken implements [store.People].
func (p people) RevokeToken(ctx context.Context, id string) error {
	return p.again(ctx, func(tx *tx) error {
		return tx.change(`UPDATE token SET revoked = coalesce(revoked, clock_timestamp()) WHERE id = $1`, clean(id))
	})
}

// Grant implements [store.People]. That a token was used is noted once a minute.
func (p people) Grant(ctx context.Context, hash []byte) (g store.Grant, err error) {
	var most string
	var fresh bool
	err = p.retry(ctx, func(ctx context.Context) error {
		return p.pool.QueryRow(ctx, `SELECT p.name, p.role, p.projects, p.created, t.id, t.role, coalesce(t.used > clock_timestamp() - interval '1 minute', false)
			FROM token t JOIN person p ON p.name = t.person
			WHERE t.hash = $1 AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > clock_timestamp())`, hash).
			Scan(&g.Name, &g.Role, &g.Projects, &g.Created, &g.Token, &most, &fresh)
	})
	if err != nil {
		return store.Grant{}, p.explain(missing(err))
	}
	if !fresh {
		_, _ = p.pool.Exec(ctx, `UPDATE token SET used = clock_timestamp() WHERE hash = $1`, hash) // a replica cannot
	}
	if most != "" {
		g.Role = lesser(g.Role, most)
	}
	return g, nil
}

// lesser returns the role that may do less.
func lesser(a, b string) string {
	for _, role := range []string{"reader", "author"} {
		if a == role || b == role {
			return role
		}
	}
	return a
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// belongings is a [store.Belongings].
type belongings struct{ *core }

// Claim implements [store.Belongings].
func (b belongings) Claim(ctx context.Context, session lathe.SessionID, person string) error {
	return b.again(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM claim WHERE session = $1`, session)
		if err == nil && person != "" {
			_, err = tx.exec(`INSERT INTO claim (session, person) VALUES ($1, $2)`, session, clean(person))
		}
		return err
	})
}

// Claimant implements [store.Belongings]. The nearest claim of the session and those that it
// works for counts.
func (b belongings) Claimant(ctx context.Context, session lathe.SessionID) (person string, err error) {
	err = b.read(ctx, func(v *view) error {
		return v.row(`WITH RECURSIVE up (id, parent, depth) AS (
				SELECT id, parent, 0 FROM session WHERE id = $1
				UNION ALL SELECT s.id, s.parent, depth + 1 FROM up JOIN session s ON s.id = up.parent WHERE depth < 32)
			SELECT c.person FROM up JOIN claim c ON c.session = up.id ORDER BY depth LIMIT 1`, session).Scan(&person)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return person, err
}

// audit is a [store.Audit].
type audit struct{ *core }

// Record implements [store.Audit].
func (a audit) Record(ctx context.Context, c store.Change) error {
	err := a.again(ctx, func(tx *tx) error { return tx.record(c) })
	if err != nil {
		return fmt.Errorf("record who does it: %w", err)
	}
	return nil
}

func (tx *tx) record(c store.Change) error {
	_, err := tx.exec(`INSERT INTO audit (person, token, origin, what, about, session, refused) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		clean(c.Person), c.Token, clean(c.From), clean(c.What), clean(c.About), clean(string(c.Session)), c.Refused)
	return err
}

// lockOnce is held while it is found out whether something was recorded.
const lockOnce = `SELECT pg_advisory_xact_lock(hashtext(current_schema() || '.audit'))`

// RecordOnce implements [store.AuditUpkeep].
func (a audit) RecordOnce(ctx context.Context, c store.Change, every time.Duration) (first bool, err error) {
	err = a.again(ctx, func(tx *tx) error {
		if _, err := tx.exec(lockOnce); err != nil {
			return err
		}
		// In a statement after the lock, which so sees what was recorded while it was waited for.
		if err := tx.row(`SELECT NOT EXISTS (SELECT 1 FROM audit WHERE person = $1 AND what = $2 AND at > clock_timestamp() - $3::bigint * interval '1 millisecond')`,
			clean(c.Person), clean(c.What), every.Milliseconds()).Scan(&first); err != nil || !first {
			return err
		}
		return tx.record(c)
	})
	if err != nil {
		return false, fmt.Errorf("record who does it: %w", err)
	}
	return first, nil
}

// CountBefore implements [store.AuditUpkeep].
func (a audit) CountBefore(ctx context.Context, before time.Time) (n int64, err error) {
	err = a.read(ctx, func(v *view) error { return v.row(`SELECT count(*) FROM audit WHERE at < $1`, before).Scan(&n) })
	if err != nil {
		return 0, fmt.Errorf("count the audit: %w", err)
	}
	return n, nil
}

// Forget implements [store.AuditUpkeep].
func (a audit) Forget(ctx context.Context, before time.Time, most int) (n int64, err error) {
	err = a.again(ctx, func(tx *tx) error {
		n, err = tx.exec(`DELETE FROM audit WHERE n IN (SELECT n FROM audit WHERE at < $1 ORDER BY n LIMIT $2)`, before, most)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove from the audit: %w", err)
	}
	return n, nil
}

// Changes implements [store.Audit].
func (a audit) Changes(ctx context.Context, f store.ChangeFilter) (all []store.Change, err error) {
	if f.Limit == 0 {
		f.Limit = 1000
	}
	err = a.read(ctx, func(v *view) error {
		return v.rows(func(row pgx.Row) error {
			var c store.Change
			err := row.Scan(&c.N, &c.At, &c.Person, &c.Token, &c.From, &c.What, &c.About, &c.Session, &c.Refused)
			all = append(all, c)
			return err
		}, `SELECT n, at, person, token, origin, what, about, session, refused FROM audit
			WHERE ($1 = '' OR person = $1) AND ($2 = '' OR session = $2) AND at >= $3 ORDER BY n DESC LIMIT $4`,
			clean(f.Person), clean(string(f.Session)), f.Since, f.Limit)
	})
	if err != nil {
		return nil, fmt.Errorf("read the audit: %w", err)
	}
	return all, nil
}
