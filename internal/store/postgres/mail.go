package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
)

// mail is a [store.Mail]. Messages on the channel say "mail SERVER" and "answer NUMBER";
// they are hints, as all are.
type mail struct{ *core }

// answerEvery is how often an answer is looked for without a hint.
const answerEvery = time.Second

// waiting are the calls of Send that wait for an answer, by number.
type waiting struct {
	mu sync.Mutex
	m  map[string]chan struct{}
}

func (w *waiting) add(n string) (hint <-chan struct{}, done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.m == nil {
		w.m = map[string]chan struct{}{}
	}
	c := make(chan struct{}, 1)
	w.m[n] = c
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.m, n)
	}
}

func (w *waiting) hint(n string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.m[n]; c != nil {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Others implements [store.Mail].
func (m mail) Others(ctx context.Context) (all []store.Owner, err error) {
	err = m.read(ctx, func(v *view) error {
		rows, err := v.query(`SELECT id, name FROM owner WHERE id <> $1 AND expires > clock_timestamp()`, m.heart.self.ID)
		if err == nil {
			all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[store.Owner])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for other servers: %w", err)
	}
	return all, nil
}

// Send implements [store.Mail].
func (m mail) Send(ctx context.Context, to store.Owner, body []byte) (answer []byte, err error) {
	var n int64
	var at time.Time // with n it names the letter: a database that crashed may give a number out again
	err = m.attempt(ctx, func(tx *tx) error {
		err := tx.row(`INSERT INTO mail (target, body) VALUES ($1, $2) RETURNING n, at`, to.ID, body).Scan(&n, &at)
		if err == nil {
			_, err = tx.exec(`SELECT pg_notify(`+channel+`, 'mail ' || $1)`, to.ID)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", to.Name, err)
	}
	hint, done := m.answers.add(fmt.Sprint(n))
	defer done()
	look := time.NewTicker(answerEvery)
	defer look.Stop()
	for {
		answer, over, err := m.answer(ctx, n, at, to)
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
func (m mail) answer(ctx context.Context, n int64, at time.Time, to store.Owner) (answer []byte, over bool, err error) {
	var late *int64
	err = m.pool.QueryRow(ctx, `SELECT answer, (SELECT `+lateness+` FROM owner o WHERE id = $2) FROM mail WHERE n = $1 AND at = $3`, n, to.ID, at).Scan(&answer, &late)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, true, store.ErrNotFound // swept away
	case err != nil:
		return nil, false, err
	case answer == nil && !m.absence.gone(late):
		return nil, false, nil
	case answer == nil:
		err = wrapped(lathe.CodeUnavailable, "look at the session, then try again", store.ErrAway, "%s ended while it was asked", to.Name)
	}
	_, _ = m.pool.Exec(ctx, `DELETE FROM mail WHERE n = $1`, n) // a sweep would do
	return answer, true, err
}

// Receive implements [store.Mail].
func (m mail) Receive(ctx context.Context, handle func(context.Context, []byte) []byte) {
	var wg sync.WaitGroup
	defer wg.Wait()
	hand := inHand{}
	for ctx.Err() == nil {
		conn, err := follower(m).listen(ctx)
		if err == nil {
			err = m.hear(ctx, conn, &wg, hand, handle)
			end, cancel := context.WithTimeout(context.Background(), time.Second)
			_ = conn.Close(end)
			cancel()
		}
		if err != nil && ctx.Err() == nil {
			m.log.Debug("what other servers ask is read later", "err", err)
			m.collect(ctx, &wg, hand, handle)
			pause(ctx, lookEvery)
		}
	}
}

// hear takes what is asked whenever the connection is told, until it breaks.
func (m mail) hear(ctx context.Context, conn *pgx.Conn, wg *sync.WaitGroup, hand inHand, handle func(context.Context, []byte) []byte) error {
	m.collect(ctx, wg, hand, handle)
	for {
		wait, cancel := context.WithTimeout(ctx, lookEvery)
		n, err := conn.WaitForNotification(wait)
		timedOut := wait.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err != nil && timedOut && !conn.IsClosed():
			m.collect(ctx, wg, hand, handle)
			continue
		case err != nil:
			return err
		}
		kind, about, _ := strings.Cut(n.Payload, " ")
		switch {
		case kind == "answer":
			m.answers.hint(about)
		case kind == "work":
			m.wake()
		case kind == "mail" && about == m.heart.self.ID:
			m.collect(ctx, wg, hand, handle)
		}
	}
}

// letter is what another server asks.
type letter struct {
	N    int64
	At   time.Time // see Send
	Body []byte
}

// inHand are the letters that this server has begun with and not yet marked as taken, so that
// it does nothing twice. One goroutine uses it.
type inHand map[string]bool

func (l letter) name() string { return fmt.Sprint(l.N, " ", l.At.UnixMicro()) }

// collect has done what is asked of this server. It begins with a letter before it marks that:
// a connection that is lost in between would else lose the letter, too.
func (m mail) collect(ctx context.Context, wg *sync.WaitGroup, hand inHand, handle func(context.Context, []byte) []byte) {
	var all []letter
	err := m.retry(ctx, func(ctx context.Context) error {
		rows, err := m.pool.Query(ctx, `SELECT n, at, body FROM mail WHERE target = $1 AND NOT taken ORDER BY n`, m.heart.self.ID)
		if err == nil {
			all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[letter])
		}
		return err
	})
	if err != nil || len(all) == 0 {
		return // what there is stays there
	}
	taken := make([]int64, len(all))
	for i, l := range all {
		taken[i] = l.N
		if hand[l.name()] {
			continue
		}
		hand[l.name()] = true
		wg.Go(func() { m.reply(ctx, l.N, handle(ctx, l.Body)) })
	}
	err = m.retry(ctx, func(ctx context.Context) error {
		_, err := m.pool.Exec(ctx, `UPDATE mail SET taken = true WHERE target = $1 AND n = ANY($2)`, m.heart.self.ID, taken)
		return err
	})
	if err == nil {
		clear(hand)
	}
}

// reply stores an answer. It goes on for as long as the database cannot be reached, since
// somebody waits for the answer of a server that lives, unless ctx ends.
func (m mail) reply(ctx context.Context, n int64, answer []byte) {
	if answer == nil {
		answer = []byte{}
	}
	for {
		err := m.batch(context.WithoutCancel(ctx), func(tx *tx) error {
			_, err := tx.exec(`UPDATE mail SET answer = $2 WHERE n = $1`, n, answer)
			if err == nil {
				_, err = tx.exec(`SELECT pg_notify(`+channel+`, 'answer ' || $1::bigint)`, n)
			}
			return err
		})
		switch {
		case err == nil:
			return
		case ctx.Err() != nil || !errors.Is(err, store.ErrUndone) && !errors.Is(err, store.ErrAway):
			m.log.Warn("another server was not answered", "err", err)
			return
		case errors.Is(err, store.ErrAway):
			pause(ctx, lookEvery)
		}
	}
}
