package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
	"lathe/internal/store/local"
)

const partColumns = `n, id, seq, kind, open, rev, size, data`

type partRow struct {
	n, seq, rev, size int64
	id                lathe.PartID
	kind              string
	open              bool
	data              []byte
}

func (r *partRow) dest() []any {
	return []any{&r.n, &r.id, &r.seq, &r.kind, &r.open, &r.rev, &r.size, &r.data}
}

// streams reports whether more of the part may be in a file.
func (r *partRow) streams() bool {
	return r.open && (r.kind == codec.KindText || r.kind == codec.KindReasoning || r.kind == codec.KindTool)
}

// text names the file that holds more of the part.
func (r *partRow) text() local.Text { return local.Text{Row: r.n, Revision: r.rev} }

// part decodes a row. A kind that only a newer version knows has no Body and
// stays in the database as it is.
func (v *view) part(r *partRow, session lathe.SessionID, message lathe.MessageID) (lathe.Part, error) {
	body, damage, err := v.body(r)
	return lathe.Part{ID: r.id, MessageID: message, SessionID: session, Seq: r.seq, Body: body, Damage: damage}, err
}

// body decodes the content of a row. If that is impossible, a stand-in is
// returned and damage says why.
func (v *view) body(r *partRow) (body lathe.PartBody, damage string, err error) {
	d := v.decoder()
	if body, err = d.StoredPart(r.kind, r.data); err != nil {
		return nil, "", fmt.Errorf("part %s: %w", r.id, err)
	}
	switch {
	case d.Damage.Why != nil:
		v.db.log.Error("a part cannot be read", "part", string(r.id), "err", d.Damage.Why)
		return body, d.Damage.Why.Error(), nil
	case body == nil:
		v.db.log.Warn("skipped a part of a kind this version does not know", "part", string(r.id), "kind", r.kind)
	}
	return body, "", nil
}

// PutPart implements [store.Tx].
func (tx *tx) PutPart(p *lathe.Part) error {
	if err := tx.putPart(p); err != nil {
		return fmt.Errorf("store part %s: %w", p.ID, err)
	}
	return nil
}

func (tx *tx) putPart(p *lathe.Part) error {
	var (
		n, rev  int64
		open    bool
		message lathe.MessageID
		session lathe.SessionID
	)
	err := tx.row(`SELECT p.n, p.seq, p.rev, p.open, m.id, s.id FROM part p JOIN message m ON m.n = p.message
		JOIN session s ON s.n = m.session WHERE p.id = ?`, p.ID).Scan(&n, &p.Seq, &rev, &open, &message, &session)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return tx.appendPart(p)
	case err != nil:
		return err
	case message != p.MessageID || session != p.SessionID:
		return store.ErrExists
	}
	if p.Damage != "" {
		return tx.change(`UPDATE part SET open = 0 WHERE n = ?`, n)
	}
	row, err := tx.partRow(p)
	if err != nil {
		return err
	}
	if open {
		tx.after = append(tx.after, func() { tx.db.texts.drop(p.ID, local.Text{Row: n, Revision: rev}) })
	}
	return tx.change(`UPDATE part SET kind = ?, open = ?, rev = rev + 1, size = ?, data = ?, blobs = ? WHERE n = ?`,
		row.kind, row.open, row.size, row.data, row.blobs, n)
}

func (tx *tx) appendPart(p *lathe.Part) error {
	var message int64
	err := tx.row(`UPDATE message SET parts = parts + 1
		WHERE id = ? AND session = (SELECT n FROM session WHERE id = ?) RETURNING n, parts`,
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
	_, err = tx.exec(`INSERT INTO part (id, message, seq, kind, open, rev, size, data, blobs)
		VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?)`, p.ID, message, p.Seq, row.kind, row.open, row.size, row.data, row.blobs)
	if isUnique(err) {
		return store.ErrExists
	}
	return err
}

type newPartRow struct {
	kind  string
	open  bool
	size  int
	data  any
	blobs sql.NullString
}

func (tx *tx) partRow(p *lathe.Part) (r newPartRow, err error) {
	var e codec.Encoder
	kind, doc, err := e.Part(p.Body)
	if err != nil {
		return r, err
	}
	text, _ := codec.TextOf(p.Body)
	r = newPartRow{kind: kind, open: codec.IsOpen(p.Body), size: len(text), data: tx.db.packer.Pack(doc)}
	r.blobs, err = tx.db.saveBlobs(e.Blobs)
	return r, err
}

// RemovePart implements [store.Tx].
func (tx *tx) RemovePart(id lathe.PartID) error {
	var n, rev int64
	err := tx.row(`DELETE FROM part WHERE id = ? RETURNING n, rev`, id).Scan(&n, &rev)
	if err != nil {
		return fmt.Errorf("remove part %s: %w", id, missing(err))
	}
	tx.after = append(tx.after, func() { tx.db.texts.drop(id, local.Text{Row: n, Revision: rev}) })
	return nil
}
