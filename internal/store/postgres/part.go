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

func (tx *tx) putPart(p *lathe.Part) error {
	var (
		n, of   int64
		open    bool
		message lathe.MessageID
		session lathe.SessionID
	)
	err := tx.row(`SELECT p.n, p.seq, p.open, p.message, m.id, s.id FROM part p JOIN message m ON m.n = p.message
		JOIN session s ON s.n = m.session WHERE p.id = $1 FOR UPDATE OF p`, p.ID).Scan(&n, &p.Seq, &open, &of, &message, &session)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return tx.appendPart(p)
	case err != nil:
		return err
	case message != p.MessageID || session != p.SessionID:
		return store.ErrExists
	}
	if p.Damage != "" {
		return tx.change(`UPDATE part SET open = false WHERE n = $1`, n)
	}
	row, err := tx.partRow(p)
	if err != nil {
		return err
	}
	if open {
		tx.db.shown.forget(p.ID)
		_, err = tx.exec(`DELETE FROM piece WHERE part = $1`, n)
	} else {
		_, err = tx.exec(`WITH stale AS (DELETE FROM search WHERE part = $1)
			INSERT INTO search_todo (message) VALUES ($2) ON CONFLICT DO NOTHING`, n, of)
	}
	if err != nil {
		return err
	}
	return tx.change(`UPDATE part SET kind = $2, open = $3, rev = rev + 1, size = $4, data = $5, blobs = $6 WHERE n = $1`,
		n, row.kind, row.open, row.size, row.data, row.blobs)
}

func (tx *tx) appendPart(p *lathe.Part) error {
	var message int64
	err := tx.row(`UPDATE message SET parts = parts + 1 WHERE id = $1 AND session = `+ofSession+` RETURNING n, parts`,
		p.MessageID, p.SessionID).Scan(&message, &p.Seq)
	if err != nil {
		return fmt.Errorf("message %s: %w", p.MessageID, missing(err))
	}
	return tx.insertPart(p, message)
}

func (tx *tx) insertPart(p *lathe.Part, message int64) error {
	row, err := tx.partRow(p)
	if err != nil {
		return err
	}
	return tx.add(`INSERT INTO part (id, message, seq, kind, open, rev, size, data, blobs)
		VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8) ON CONFLICT DO NOTHING`,
		string(p.ID), message, p.Seq, row.kind, row.open, row.size, row.data, row.blobs)
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
