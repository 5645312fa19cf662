package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// PutPart implements [store.Tx].
func (tx *tx) PutPart(p *lathe.Part) error {
	err := tx.own(p.SessionID)
	if err == nil {
		err = tx.putPart(p)
	}
	if err != nil {
		return fmt.Errorf("store part %s: %w", p.ID, err)
	}
	return nil
}

// addPart counts a part that is new in its message and adds it.
const addPart = `WITH m AS (UPDATE message SET parts = parts + 1 WHERE ` + isNew + ` RETURNING n, parts)
	` + newPart + ` RETURNING seq`

// addNextPart is addPart for one that has to get a certain number.
const addNextPart = `WITH m AS (UPDATE message SET parts = parts + 1 WHERE ` + isNew + ` AND parts = $9::bigint - 1 RETURNING n, parts),
	done AS (` + newPart + ` RETURNING 1)
	SELECT 1 / count(*) FROM done`

const isNew = `id = $2 AND session = (SELECT n FROM session WHERE id = $3) AND NOT EXISTS (SELECT 1 FROM part WHERE id = $1)`

const newPart = `INSERT INTO part (id, message, seq, kind, open, rev, size, data, blobs) SELECT $1, n, parts, $4, $5, 1, $6, $7, $8 FROM m
	ON CONFLICT DO NOTHING`

// replacePart stores a part of a message anew. The pieces of an open one go; one that was
// closed has to be indexed once more.
const replacePart = `WITH` + oldPart + `
	` + changedPart + ` RETURNING p.seq`

// replaceNumbered is replacePart for one that has to have a certain number.
const replaceNumbered = `WITH` + oldPart + `,
	done AS (` + changedPart + ` AND p.seq = $9 RETURNING 1)
	SELECT 1 / count(*) FROM done`

const oldPart = `
	old AS (SELECT p.n, p.open, p.message FROM part p JOIN message m ON m.n = p.message JOIN session s ON s.n = m.session
		WHERE p.id = $1 AND m.id = $2 AND s.id = $3 FOR UPDATE OF p),
	streamed AS (DELETE FROM piece t USING old WHERE t.part = old.n AND old.open),
	stale AS (DELETE FROM search t USING old WHERE t.part = old.n AND NOT old.open),
	todo AS (INSERT INTO search_todo (message) SELECT message FROM old WHERE NOT open ON CONFLICT DO NOTHING)`

const changedPart = `UPDATE part p SET kind = $4, open = $5, rev = p.rev + 1, size = $6, data = $7, blobs = $8 FROM old WHERE p.id = $1`

// putPart takes a part without a number for a new one, and one with a number for one that
// is stored; if that is wrong, it looks.
func (tx *tx) putPart(p *lathe.Part) error {
	if p.Damage != "" {
		if err := tx.closeDamaged(p); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	row, err := tx.partRow(p)
	if err != nil {
		return err
	}
	first, second := addPart, replacePart
	if p.Seq != 0 {
		first, second = second, first
	}
	tx.db.shown.forget(p.ID)
	args := []any{p.ID, p.MessageID, p.SessionID, row.kind, row.open, row.size, row.data, row.blobs}
	mine := tx.mine[p.SessionID]
	if p.Seq == 0 {
		if seq, ok := mine.nextPart(p.MessageID); ok {
			tx.pipe.later(statement{query: addNextPart, args: append(args, seq), doing: "store part " + string(p.ID), none: errRecall})
			p.Seq = seq
			return nil
		}
	} else if mine.trusts() {
		tx.pipe.later(statement{query: replaceNumbered, args: append(args, p.Seq), doing: "store part " + string(p.ID), none: errRecall})
		return nil
	}
	for _, query := range []string{first, second} {
		err = tx.row(query, args...).Scan(&p.Seq)
		if err == nil && query == addPart {
			mine.learnPart(p.MessageID, p.Seq)
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	return tx.misplaced(p)
}

// closeDamaged marks a part as closed whose row cannot be read.
func (tx *tx) closeDamaged(p *lathe.Part) error {
	return tx.row(`UPDATE part p SET open = false FROM message m JOIN session s ON s.n = m.session
		WHERE p.id = $1 AND m.n = p.message AND m.id = $2 AND s.id = $3 RETURNING p.seq`, p.ID, p.MessageID, p.SessionID).Scan(&p.Seq)
}

// misplaced says why a part can be neither added nor replaced: it belongs to another
// message, or there is no such message.
func (tx *tx) misplaced(p *lathe.Part) error {
	var there bool
	err := tx.row(`SELECT EXISTS (SELECT 1 FROM part WHERE id = $1)`, p.ID).Scan(&there)
	switch {
	case err != nil:
		return err
	case there:
		return store.ErrExists
	}
	return fmt.Errorf("message %s: %w", p.MessageID, store.ErrNotFound)
}

// insertPart adds a part whose number is known, to a message whose row has a number, or 0 for one
// that it will have.
func (tx *tx) insertPart(p *lathe.Part, message int64) error {
	row, err := tx.partRow(p)
	if err != nil {
		return err
	}
	args := []any{string(p.ID), message, p.Seq, row.kind, row.open, row.size, row.data, row.blobs}
	if message == 0 {
		args[1] = string(p.MessageID)
		tx.must("store part "+string(p.ID), errRecall, `INSERT INTO part (id, message, seq, kind, open, rev, size, data, blobs)
			SELECT $1, n, $3, $4, $5, 1, $6, $7, $8 FROM message WHERE id = $2 AND session = (SELECT n FROM session WHERE id = $9) ON CONFLICT DO NOTHING`,
			append(args, p.SessionID)...)
		return nil
	}
	tx.must("store part "+string(p.ID), store.ErrExists, `INSERT INTO part (id, message, seq, kind, open, rev, size, data, blobs)
		VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8) ON CONFLICT DO NOTHING`, args...)
	return nil
}

type newPartRow struct {
	kind string
	open bool
	size int
	document
}

func (tx *tx) partRow(p *lathe.Part) (r newPartRow, err error) {
	var e codec.Encoder
	kind, doc, err := e.Part(p.Body)
	if err != nil {
		return r, err
	}
	text, _ := codec.TextOf(p.Body)
	r = newPartRow{kind: kind, open: codec.IsOpen(p.Body), size: len(text), document: document{data: tx.db.pack(doc)}}
	r.blobs, err = tx.saveBlobs(e.Blobs)
	return r, err
}

// RemovePart implements [store.Tx].
func (tx *tx) RemovePart(id lathe.PartID) error {
	var session lathe.SessionID
	err := tx.row(`SELECT s.id FROM part p JOIN message m ON m.n = p.message JOIN session s ON s.n = m.session WHERE p.id = $1`, id).Scan(&session)
	if err == nil {
		err = tx.own(session)
	}
	if err == nil {
		err = tx.change(`DELETE FROM part WHERE id = $1`, id)
	}
	if err != nil {
		return fmt.Errorf("remove part %s: %w", id, missing(err))
	}
	tx.db.shown.forget(id)
	return nil
}
