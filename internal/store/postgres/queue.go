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

// queue is a [store.Queue]. Messages on the channel say "work" when there may be something
// to take, and "answer wNUMBER".
type queue struct{ *core }

const (
	// livingTaker is the condition that the worker which has work w was heard of lately.
	livingTaker = `EXISTS (SELECT 1 FROM owner o WHERE o.id = w.taker AND o.expires > clock_timestamp())`
	// forgetWork removes what ended so long ago that it does not matter whose turn it was.
	forgetWork = `DELETE FROM work WHERE ended < clock_timestamp() - interval '15 minutes'`
	// tellWorkers wakes the workers.
	tellWorkers = `SELECT pg_notify(` + channel + `, 'work')`
	// below is the condition that directory $1 lies in the offered directory o.
	below = `($1 = o.directory OR starts_with($1, rtrim(o.directory, '/') || '/'))`
)

// Add implements [store.Queue].
func (q queue) Add(ctx context.Context, w store.Work) (n int64, err error) {
	err = q.batch(ctx, func(tx *tx) error {
		err := tx.row(`INSERT INTO work (session, directory, root, person, body, once) VALUES ($1, $2, $3, $4, $5, $6) RETURNING n`,
			w.Session, clean(w.Directory), clean(w.Root), clean(w.Person), w.Body, w.Once).Scan(&n)
		if err == nil {
			_, err = tx.exec(forgetWork)
		}
		if err == nil {
			_, err = tx.exec(tellWorkers)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("queue work for session %s: %w", w.Session, err)
	}
	return n, nil
}

// Answer implements [store.Queue].
func (q queue) Answer(ctx context.Context, n int64) ([]byte, error) {
	hint, done := q.answers.add(fmt.Sprint("w", n))
	defer done()
	look := time.NewTicker(answerEvery)
	defer look.Stop()
	for {
		answer, over, err := q.answer(ctx, n)
		if over || err != nil && !away(err) {
			return answer, err
		}
		select {
		case <-hint:
		case <-look.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// answer looks for an answer; over says that none is to be waited for any more.
func (q queue) answer(ctx context.Context, n int64) (answer []byte, over bool, err error) {
	var ended *time.Time
	err = q.pool.QueryRow(ctx, `SELECT answer, ended FROM work WHERE n = $1`, n).Scan(&answer, &ended)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, true, store.ErrNotFound
	case err != nil:
		return nil, false, err
	case answer != nil:
		return answer, true, nil
	case ended != nil:
		return nil, true, wrapped(lathe.CodeUnavailable, "look at the session, then try again", store.ErrAway, "the worker that had it is gone")
	}
	return nil, false, nil
}

// Drop implements [store.Queue].
func (q queue) Drop(ctx context.Context, session lathe.SessionID) (dropped int, taken []store.Owner, err error) {
	err = q.batch(ctx, func(tx *tx) error {
		if _, err := tx.exec(lockWork); err != nil {
			return err
		}
		rows, err := tx.query(`DELETE FROM work WHERE session = $1 AND taker = '' AND ended IS NULL RETURNING n`, session)
		if err != nil {
			return err
		}
		gone, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, n := range gone {
			if err == nil {
				_, err = tx.exec(`SELECT pg_notify(`+channel+`, 'answer w' || $1::bigint)`, n)
			}
		}
		if err != nil {
			return err
		}
		dropped = len(gone)
		if rows, err = tx.query(`SELECT DISTINCT taker, name FROM work WHERE session = $1 AND taker <> '' AND ended IS NULL`, session); err == nil {
			taken, err = pgx.CollectRows(rows, pgx.RowToStructByPos[store.Owner])
		}
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("drop work of session %s: %w", session, err)
	}
	return dropped, taken, nil
}

// Open implements [store.Queue].
func (q queue) Open(ctx context.Context, session lathe.SessionID) (open bool, err error) {
	err = q.read(ctx, func(v *view) error {
		return v.row(`SELECT EXISTS (SELECT 1 FROM work WHERE session = $1 AND ended IS NULL)`, session).Scan(&open)
	})
	return open, err
}

// Pending implements [store.Queue].
func (q queue) Pending(ctx context.Context, session lathe.SessionID) (pending bool, err error) {
	err = q.read(ctx, func(v *view) error {
		return v.row(`SELECT EXISTS (SELECT 1 FROM work WHERE session = $1 AND ended IS NULL AND NOT accepted)`, session).Scan(&pending)
	})
	return pending, err
}

// Offers implements [store.Queue].
func (q queue) Offers(ctx context.Context, directory string) (root string, workers []store.Worker, err error) {
	err = q.read(ctx, func(v *view) error {
		workers, err = v.workers(`WHERE `+below, clean(directory))
		if err != nil || len(workers) == 0 {
			return err
		}
		return v.row(`SELECT o.directory FROM offer o WHERE `+below+` ORDER BY length(o.directory) LIMIT 1`, clean(directory)).Scan(&root)
	})
	if err != nil {
		return "", nil, fmt.Errorf("look for workers: %w", err)
	}
	return root, workers, nil
}

// workers reads those whose offers a condition selects: the living first, then by how
// much of what they can do is being done.
func (v *view) workers(where string, args ...any) (all []store.Worker, err error) {
	err = v.rows(func(row pgx.Row) error {
		var w store.Worker
		var remotes []string
		err := row.Scan(&w.ID, &w.Name, &w.Directories, &remotes, &w.Turns, &w.Since, &w.Living)
		for i, remote := range remotes {
			if remote != "" && w.Remotes == nil {
				w.Remotes = map[string]string{}
			}
			if remote != "" {
				w.Remotes[w.Directories[i]] = remote
			}
		}
		all = append(all, w)
		return err
	}, `SELECT id, name, directories, remotes, turns, since, living FROM (
			SELECT o.owner AS id, o.name, array_agg(o.directory ORDER BY o.directory) AS directories, array_agg(o.remote ORDER BY o.directory) AS remotes, max(o.turns) AS turns, min(o.since) AS since,
				EXISTS (SELECT 1 FROM owner l WHERE l.id = o.owner AND l.expires > clock_timestamp()) AS living,
				(SELECT count(*) FROM work w WHERE w.taker = o.owner AND w.ended IS NULL) AS busy
			FROM offer o `+where+` GROUP BY o.owner, o.name) all_of_them
		ORDER BY NOT living, turns = 0, busy::float / greatest(turns, 1), name, id`, args...)
	return all, err
}

// State implements [store.Queue].
func (q queue) State(ctx context.Context) (s store.QueueState, err error) {
	err = q.read(ctx, func(v *view) error {
		if s.Workers, err = v.workers(""); err != nil {
			return err
		}
		return v.rows(func(row pgx.Row) error {
			var w store.Work
			var taken *time.Time
			err := row.Scan(&w.N, &w.Session, &w.Directory, &w.Root, &w.Person, &w.Once, &w.Added, &taken, &w.By.ID, &w.By.Name)
			if taken != nil && w.By.ID != "" {
				w.Taken = *taken
			}
			s.Open = append(s.Open, w)
			return err
		}, `SELECT n, session, directory, root, person, once, added, taken, taker, name FROM work WHERE ended IS NULL ORDER BY n LIMIT 10000`)
	})
	if err != nil {
		return store.QueueState{}, fmt.Errorf("look at the queue: %w", err)
	}
	return s, nil
}
