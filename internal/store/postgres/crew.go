package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe/internal/order"
	"lathe/internal/store"
)

// crew is a [store.Crew].
type crew struct{ *core }

const (
	// lockWork lets one worker choose at a time, so that limits hold.
	lockWork = `SELECT pg_advisory_xact_lock(hashtext(current_schema() || '.work'))`
	// mostTries is how often work is taken whose workers were gone before it ended. It may be
	// what ends them.
	mostTries = 3
)

// unattended is the condition that this worker ($1) has work w and does it no more, because its end
// could not be stored: it does only some ($2), or nothing, which is NULL.
const unattended = `w.taker = $1 AND NOT w.n = ANY(coalesce($2::bigint[], '{}'))`

// offer is what a worker offers.
type offer struct {
	directories []string
	turns       int
	remotes     map[string]string
}

// Offer implements [store.Crew].
func (c crew) Offer(ctx context.Context, directories []string, turns int, remotes map[string]string) error {
	o := &offer{directories, turns, remotes}
	c.heart.setOffer(o)
	err := c.explain(c.heart.ensure(ctx))
	if err == nil {
		err = c.attempt(ctx, func(tx *tx) error { return tx.offer(o) })
	}
	if err != nil {
		return fmt.Errorf("offer directories: %w", err)
	}
	return nil
}

// setOffer notes what this server offers as a worker; nil: nothing more.
func (h *heart) setOffer(o *offer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.offer = o
}

// offered returns what this server offers; nil if it is no worker.
func (h *heart) offered() *offer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.offer
}

func (tx *tx) offer(offer *offer) error {
	self := tx.db.heart.self
	// What workers that are gone offered is not needed once another offers the same.
	_, err := tx.exec(`DELETE FROM offer f WHERE owner = $1 OR NOT EXISTS (SELECT 1 FROM owner o WHERE o.id = f.owner AND o.expires > clock_timestamp())
		AND (directory = ANY($2) OR since < clock_timestamp() - interval '1 day')`, self.ID, offer.directories)
	for _, dir := range offer.directories {
		if err == nil {
			_, err = tx.exec(`INSERT INTO offer (owner, name, directory, turns, remote) VALUES ($1, $2, $3, $4, $5)`, self.ID, self.Name, clean(dir), offer.turns, clean(offer.remotes[dir]))
		}
	}
	return err
}

// Withdraw implements [store.Crew]. The offer stays, as that of a worker that is gone, so
// that work can wait for another.
func (c crew) Withdraw(ctx context.Context) error {
	c.heart.setOffer(nil)
	err := c.batch(ctx, func(tx *tx) error {
		_, err := tx.exec(`UPDATE offer SET turns = 0 WHERE owner = $1`, c.heart.self.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("withdraw the offer of directories: %w", err)
	}
	return nil
}

// Take implements [store.Crew]. Most looks find nothing and are one query. A worker that was not
// heard of for a while is back with it: another may have removed its offer, and what it took
// while it counts as gone the next one would take from it.
func (c crew) Take(ctx context.Context, free int, doing []int64, limits map[string]int) (taken []store.Work, err error) {
	var some bool
	var offered int
	err = c.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM work w WHERE ended IS NULL AND (taker = '' OR NOT `+livingTaker+` OR `+unattended+`)),
		(SELECT count(*) FROM offer WHERE owner = $1)`, c.heart.self.ID, doing).Scan(&some, &offered)
	o := c.heart.offered()
	removed := o != nil && offered < len(o.directories)
	if err != nil || !some && !removed {
		return nil, c.explain(err)
	}
	if err := c.explain(c.heart.ensure(ctx)); err != nil {
		return nil, err
	}
	err = c.batch(ctx, func(tx *tx) error {
		if removed {
			if err := tx.offer(o); err != nil {
				return err
			}
		}
		taken, err = tx.take(free, doing, limits)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take work: %w", err)
	}
	return taken, nil
}

func (tx *tx) take(free int, doing []int64, limits map[string]int) (taken []store.Work, err error) {
	if _, err := tx.exec(lockWork); err != nil {
		return nil, err
	}
	if !tx.db.absence.recent() {
		if err := tx.rescue(doing); err != nil {
			return nil, err
		}
	}
	self := tx.db.heart.self
	taken, err = tx.taking(`SELECT w.n FROM work w WHERE ended IS NULL AND taker = '' AND session IN
		(SELECT session FROM work WHERE taker = $1 AND ended IS NULL)`, self.ID, self.Name)
	roots := slices.Sorted(maps.Keys(limits))
	most := make([]int, len(roots))
	for i, root := range roots {
		most[i] = limits[root]
	}
	for ; free > 0 && err == nil; free-- {
		var one []store.Work
		one, err = tx.taking(nextWork, self.ID, self.Name, roots, most)
		if len(one) == 0 {
			break
		}
		taken = append(taken, one...)
	}
	return taken, err
}

// Adopt implements [store.Crew]. Most looks find nothing and are one query.
func (c crew) Adopt(ctx context.Context, here func(directory string) bool, doing []int64) (taken []store.Work, err error) {
	rows, err := c.pool.Query(ctx, `SELECT DISTINCT directory FROM work w WHERE root = '' AND ended IS NULL AND (taker = '' OR NOT `+livingTaker+`)`)
	if err != nil {
		return nil, c.explain(err)
	}
	dirs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if dirs = slices.DeleteFunc(dirs, func(dir string) bool { return !here(dir) }); err != nil || len(dirs) == 0 {
		return nil, c.explain(err)
	}
	if err := c.explain(c.heart.ensure(ctx)); err != nil {
		return nil, err
	}
	err = c.batch(ctx, func(tx *tx) error {
		if _, err := tx.exec(lockWork); err != nil {
			return err
		}
		if !c.absence.recent() {
			if err := tx.rescue(doing); err != nil {
				return err
			}
		}
		taken, err = tx.taking(`SELECT w.n FROM work w WHERE root = '' AND ended IS NULL AND taker = '' AND directory = ANY($3)`, c.heart.self.ID, c.heart.self.Name, dirs)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take work of a server that stopped: %w", err)
	}
	return taken, nil
}

// nextWork chooses what a worker ($1) does next, within the limits ($4) of directories ($3):
// that of the person who has the least running and was served longest ago, then by
// directory, then what is oldest. Work of one session is done in its order.
const nextWork = `SELECT w.n FROM work w WHERE w.ended IS NULL AND w.taker = ''
	AND EXISTS (SELECT 1 FROM offer o WHERE o.owner = $1 AND (w.directory = o.directory OR starts_with(w.directory, rtrim(o.directory, '/') || '/')))
	AND NOT EXISTS (SELECT 1 FROM work e WHERE e.session = w.session AND e.ended IS NULL AND e.n < w.n)
	AND (SELECT count(*) FROM work r WHERE r.root = w.root AND r.taker <> '' AND r.ended IS NULL)
		< coalesce((SELECT l.most FROM unnest($3::text[], $4::int[]) AS l (root, most) WHERE l.root = w.root), 2147483647)
	ORDER BY (SELECT count(*) FROM work r WHERE r.person = w.person AND r.taker <> '' AND r.ended IS NULL),
		(SELECT max(r.taken) FROM work r WHERE r.person = w.person) NULLS FIRST,
		(SELECT count(*) FROM work r WHERE r.root = w.root AND r.taker <> '' AND r.ended IS NULL),
		(SELECT max(r.taken) FROM work r WHERE r.root = w.root) NULLS FIRST, w.n
	LIMIT 1`

// rescue gives work back whose worker is gone, once what that worker had open in the
// session is closed. What must not be done again ends without an answer, and so does what
// no worker survived. Nobody knows shortly after an [absence] who is gone.
func (tx *tx) rescue(doing []int64) error {
	const lost = `w.ended IS NULL AND w.taker <> '' AND (` + unattended + ` OR NOT ` + livingTaker + `)
		AND NOT EXISTS (SELECT 1 FROM lease l JOIN session s ON s.n = l.session WHERE s.id = w.session AND l.owner = w.taker)`
	self := tx.db.heart.self.ID
	rows, err := tx.query(`UPDATE work w SET ended = clock_timestamp() WHERE (once OR tries >= $3) AND `+lost+` RETURNING n`, self, doing, mostTries-1)
	if err != nil {
		return err
	}
	ended, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, n := range ended {
		if err == nil {
			_, err = tx.exec(`SELECT pg_notify(`+channel+`, 'answer w' || $1::bigint)`, n)
		}
	}
	if err == nil {
		_, err = tx.exec(`UPDATE work w SET taker = '', tries = tries + 1 WHERE `+lost, self, doing)
	}
	return err
}

// taking takes the work whose numbers a query returns.
func (tx *tx) taking(choose string, args ...any) (all []store.Work, err error) {
	err = tx.rows(func(row pgx.Row) error {
		w := store.Work{By: tx.db.heart.self}
		err := row.Scan(&w.N, &w.Session, &w.Directory, &w.Root, &w.Person, &w.Body, &w.Once, &w.Added, &w.Taken)
		all = append(all, w)
		return err
	}, `UPDATE work SET taker = $1, name = $2, taken = clock_timestamp() WHERE n IN (`+choose+`)
		RETURNING n, session, directory, root, person, body, once, added, taken`, args...)
	order.Stable(all, func(a, b store.Work) int { return cmp.Compare(a.N, b.N) })
	return all, err
}

// Done implements [store.Crew].
func (c crew) Done(ctx context.Context, n int64, answer []byte, over bool) error {
	err := c.batch(ctx, func(tx *tx) error {
		changed, err := tx.exec(`UPDATE work SET answer = coalesce(answer, $2), ended = CASE WHEN $3 THEN clock_timestamp() END
			WHERE n = $1 AND taker = $4 AND ended IS NULL`, n, answer, over, c.heart.self.ID)
		switch {
		case err != nil:
			return err
		case changed == 0:
			return store.ErrLost
		}
		if answer != nil {
			_, err = tx.exec(`SELECT pg_notify(`+channel+`, 'answer w' || $1::bigint)`, n)
		}
		if over && err == nil {
			_, err = tx.exec(tellWorkers)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("answer work %d: %w", n, err)
	}
	return nil
}

// GiveBack implements [store.Crew].
func (c crew) GiveBack(ctx context.Context, n int64) error {
	err := c.batch(ctx, func(tx *tx) error {
		_, err := tx.exec(`UPDATE work SET taker = '', name = '', taken = NULL WHERE n = $1 AND taker = $2 AND ended IS NULL`, n, c.heart.self.ID)
		if err == nil {
			_, err = tx.exec(tellWorkers)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("give work %d back: %w", n, err)
	}
	return nil
}

// Wake implements [store.Crew].
func (c crew) Wake(ctx context.Context) {
	look := time.NewTimer(lookEvery)
	defer look.Stop()
	select {
	case <-c.woken:
	case <-look.C:
	case <-ctx.Done():
	}
}

// wake has this server look whether there is work to take.
func (c *core) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}
