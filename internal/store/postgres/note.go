package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"strconv"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// addEvent adds an event and has the others told when it is committed; PostgreSQL tells
// several of a transaction once.
const addEvent = `INSERT INTO event (origin, directory, kind, data, blobs) VALUES ($1, $2, $3, $4, $5)
	RETURNING n, pg_notify(` + channel + `, $1)::text`

// addMark adds a mark, which concerns nobody else.
const addMark = `INSERT INTO event (origin, directory, kind, data, blobs) VALUES ($1, $2, $3, $4, $5) RETURNING n, NULL`

// kindMark is of no event: programs that read the journal pass over what they do not know.
const kindMark = "mark"

// newMark returns what a transaction without events is known by, see [noted.confirm].
func newMark(db *core) *noted {
	data := db.pack([]byte(`{"id":"` + rand.Text() + `"}`))
	return &noted{db: db, mark: true, rows: []eventRow{{kind: kindMark, document: document{data: data}}}}
}

// noted is what a transaction has for the journal.
type noted struct {
	db    *core
	mark  bool // and nothing else; into is nil
	into  *store.Noted
	rows  []eventRow
	seen  int64 // how far this server had read
	begun bool  // or whether it had begun to
}

// Note implements [store.Noter].
func (tx *tx) Note(into *store.Noted) error {
	rows, err := tx.eventRows(into)
	if err != nil || len(rows) == 0 {
		return err
	}
	tx.noted = &noted{db: tx.db, into: into, rows: rows}
	return nil
}

func (tx *tx) eventRows(into *store.Noted) (rows []eventRow, err error) {
	for i, f := range into.Facts {
		if i < into.Again {
			old, err := outdated(tx, f.Event)
			if err != nil {
				return nil, err
			}
			if old {
				continue
			}
		}
		var e codec.Encoder
		kind, data, err := e.Event(f.Event)
		if err != nil {
			return nil, err
		}
		if kind == "" {
			continue
		}
		if len(rows) == 0 {
			data = tx.db.signed(data)
		}
		blobs, err := tx.saveBlobs(e.Blobs)
		if err != nil {
			return nil, err
		}
		rows = append(rows, eventRow{of: i, directory: clean(f.Directory), kind: kind, document: document{tx.db.pack(data), blobs}})
	}
	return rows, nil
}

// outdated reports whether an event says what a session was doing here, and another server has
// its lease. Nobody takes it before the transaction ends.
func outdated(tx *tx, ev lathe.Event) (bool, error) {
	st, ok := ev.(lathe.SessionStatus)
	if !ok {
		return false, nil
	}
	if _, err := tx.exec(`SELECT 1 FROM session WHERE id = $1 FOR SHARE`, st.SessionID); err != nil {
		return false, err
	}
	held, living, err := tx.holder(st.SessionID)
	return living && held.Owner != tx.db.heart.self, err
}

// queue has the journal locked and the rows added: the last statements before COMMIT, because
// others wait for the lock.
func (n *noted) queue(p *pipe) {
	j, add := &n.db.journal, addMark
	if !n.mark {
		add = addEvent
		j.told.Store(true)
	}
	p.later(statement{query: lockEvents, doing: "lock the journal"})
	n.seen, n.begun = j.at()
	for i := range n.rows {
		r := &n.rows[i]
		p.later(statement{
			query: add, args: []any{n.db.heart.self.ID, r.directory, r.kind, r.data, r.blobs}, doing: "note an event",
			take: func(rows pgx.Rows) error {
				rows.Next()
				return rows.Scan(&r.n, nil)
			},
		})
	}
}

// settle passes on the numbers, after the commit, and what others noted before. Numbers have the
// order of the commits, so everything below the first of these is stored by now; where they
// follow what this server had read, there is nothing in between. A transaction that failed
// leaves a gap as well, in which nothing is found.
func (n *noted) settle(ctx context.Context) {
	if n.mark {
		n.db.journal.marked(n.rows[0].n)
		return
	}
	for i := range n.rows {
		n.into.Facts[n.rows[i].of].Number = n.rows[i].n
	}
	if first := n.rows[0].n; n.begun && first != n.seen+1 {
		err := n.db.retry(ctx, func(ctx context.Context) error {
			return n.db.read(ctx, func(v *view) (err error) {
				n.into.Before, err = v.before(n.seen, first)
				return err
			})
		})
		if err != nil { // those who are told this read again what they show
			n.db.log.Warn("what other servers told cannot be read", "err", err)
			n.into.Before = []store.Fact{{Event: lathe.EventsMissed{}}}
		}
	}
	n.db.journal.disown(n.into.Facts)
	n.db.journal.hasNoted(n.rows[len(n.rows)-1].n)
}

// confirm reports whether a transaction that is said to be committed is the one that noted
// the rows, or left the mark. A database that crashed gives the number of a transaction that it had not yet
// written down to another one.
func (n *noted) confirm(ctx context.Context, id string) error {
	number, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return err
	}
	const short = 1 << 32 // a row has the lower half of the number
	missing := len(n.rows)
	err = n.db.retry(ctx, func(ctx context.Context) error {
		rows, err := n.db.pool.Query(ctx, `SELECT data FROM event WHERE origin = $1 AND xmin::text = $2 ORDER BY n DESC LIMIT $3`,
			n.db.heart.self.ID, strconv.FormatUint(number%short, 10), len(n.rows))
		if err != nil {
			return err
		}
		stored, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return err
		}
		missing = len(n.rows) - len(stored)
		for i, data := range stored {
			if !bytes.Equal(data, n.rows[len(n.rows)-1-i].data) {
				missing++
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case missing > 0:
		return store.ErrUndone
	}
	return nil
}

// recall finds out what the answer to a commit would have told, when that was lost. Facts of
// this server have one order, so its newest rows are those of the commit.
func (n *noted) recall(ctx context.Context) {
	if n.mark {
		return
	}
	err := n.db.glance(ctx, func(v *view) error {
		at := len(n.rows)
		return v.rows(func(row pgx.Row) error {
			at--
			return row.Scan(&n.rows[at].n)
		}, `SELECT n FROM event WHERE origin = $1 AND kind <> '`+kindMark+`' ORDER BY n DESC LIMIT $2`, n.db.heart.self.ID, len(n.rows))
	})
	if err != nil { // they have no number here, and are told once more elsewhere
		n.db.log.Warn("what was noted is not known", "err", err)
		return
	}
	n.settle(ctx)
}
