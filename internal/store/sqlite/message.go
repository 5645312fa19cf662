package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// AddMessage implements [store.Tx].
func (tx *tx) AddMessage(m *lathe.Message) error {
	n, err := tx.insertMessage(m)
	if err != nil {
		return fmt.Errorf("add message %s: %w", m.ID, err)
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		p.SessionID, p.MessageID, p.Seq = m.SessionID, m.ID, int64(i+1)
		if err := tx.insertPart(p, n); err != nil {
			return fmt.Errorf("add message %s: part %s: %w", m.ID, p.ID, err)
		}
	}
	return nil
}

// messages is a [store.MessageReader].
type messages struct{ *core }

// NewestMessage returns the newest message of a session, or "".
func (s messages) NewestMessage(ctx context.Context, session lathe.SessionID) (id lathe.MessageID, err error) {
	err = s.read(ctx, func(v *view) error {
		err := v.row(`SELECT id FROM message WHERE session = (SELECT n FROM session WHERE id = ?) ORDER BY seq DESC LIMIT 1`, session).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("newest message of session %s: %w", session, err)
	}
	return id, nil
}

func (tx *tx) insertMessage(m *lathe.Message) (n int64, err error) {
	row, err := tx.messageRow(m)
	if err != nil {
		return 0, err
	}
	var session int64
	err = tx.row(`UPDATE session SET messages = messages + 1 WHERE id = ? RETURNING n, messages`, m.SessionID).
		Scan(&session, &m.Seq)
	if err != nil {
		return 0, fmt.Errorf("session %s: %w", m.SessionID, missing(err))
	}
	res, err := tx.exec(`INSERT INTO message (id, session, seq, role, created, open, summary, parts, data, blobs)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.ID, session, m.Seq, row.role, codec.Millis(m.Created), row.open, row.summary, len(m.Parts), row.data, row.blobs)
	if isUnique(err) {
		return 0, store.ErrExists
	}
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

type messageRow struct {
	role          string
	open, summary bool
	data          any
	blobs         sql.NullString
}

func (tx *tx) messageRow(m *lathe.Message) (r messageRow, err error) {
	var e codec.Encoder
	role, doc, err := e.Info(m.Info)
	if err != nil {
		return r, err
	}
	r.role, r.data = role, tx.db.packer.Pack(doc)
	if a, ok := m.Info.(*lathe.Assistant); ok {
		r.open, r.summary = a.Completed.IsZero(), a.Summary
	}
	r.blobs, err = tx.db.saveBlobs(e.Blobs)
	return r, err
}

// UpdateMessage implements [store.Tx].
func (tx *tx) UpdateMessage(m *lathe.Message) error {
	if m.Damage != "" {
		return tx.change(`UPDATE message SET open = 0 WHERE id = ? AND session = (SELECT n FROM session WHERE id = ?)`, m.ID, m.SessionID)
	}
	row, err := tx.messageRow(m)
	if err == nil {
		err = tx.change(`UPDATE message SET role = ?, created = ?, open = ?, summary = ?, data = ?, blobs = ?
			WHERE id = ? AND session = (SELECT n FROM session WHERE id = ?)`,
			row.role, codec.Millis(m.Created), row.open, row.summary, row.data, row.blobs, m.ID, m.SessionID)
	}
	if err != nil {
		return fmt.Errorf("update message %s: %w", m.ID, err)
	}
	return nil
}

// RemoveMessage implements [store.Tx].
func (tx *tx) RemoveMessage(session lathe.SessionID, id lathe.MessageID) error {
	err := spending{tx}.keep(session, id)
	if err == nil {
		err = tx.change(`DELETE FROM message WHERE id = ? AND session = (SELECT n FROM session WHERE id = ?)`, id, session)
	}
	if err != nil {
		return fmt.Errorf("remove message %s: %w", id, err)
	}
	return nil
}

// SetBoundary implements [store.Tx].
func (tx *tx) SetBoundary(session lathe.SessionID, seq int64) error {
	var err error
	if seq == 0 {
		_, err = tx.exec(`DELETE FROM boundary WHERE session = (SELECT n FROM session WHERE id = ?)`, session)
	} else {
		err = tx.change(`INSERT INTO boundary (message, session, seq)
			SELECT m.n, m.session, ? FROM message m WHERE m.session = (SELECT n FROM session WHERE id = ?)
			ORDER BY m.summary DESC, m.seq DESC LIMIT 1
			ON CONFLICT (message) DO UPDATE SET seq = excluded.seq`, seq, session)
	}
	if err != nil {
		return fmt.Errorf("set boundary of session %s: %w", session, err)
	}
	return nil
}

// Message returns a message with its parts, or [ErrNotFound].
func (s messages) Message(ctx context.Context, session lathe.SessionID, id lathe.MessageID) (lathe.Message, error) {
	var l loader
	err := s.read(ctx, func(v *view) error {
		return v.load(&l, session, `m.id = ?2`, id, "")
	})
	if err == nil && len(l.messages) == 0 {
		err = store.ErrNotFound
	}
	if err == nil {
		err = s.overlay(ctx, &l)
	}
	if err != nil {
		return lathe.Message{}, fmt.Errorf("message %s: %w", id, err)
	}
	return l.messages[0], nil
}

// page is how many messages are held in memory while streaming.
const page = 32

// Messages yields the messages of a session with their parts, newest first. It
// holds a page at a time and no lock between pages. An error ends it.
func (s messages) Messages(ctx context.Context, session lathe.SessionID, f store.MessageFilter) iter.Seq2[lathe.Message, error] {
	return func(yield func(lathe.Message, error) bool) {
		before, left := f.Before, f.Limit
		if before <= 0 {
			before = 1<<63 - 1
		}
		for {
			want := page
			if f.Limit > 0 {
				want = min(page, left)
			}
			l, err := s.page(ctx, session, before, want)
			if err != nil {
				yield(lathe.Message{}, fmt.Errorf("messages of session %s: %w", session, err))
				return
			}
			for _, m := range slices.Backward(l.messages) {
				if !yield(m, nil) {
					return
				}
			}
			before, left = l.lowest, left-l.rows
			if l.rows < want || (f.Limit > 0 && left <= 0) {
				return
			}
		}
	}
}

// page returns up to limit messages below the sequence number.
func (s messages) page(ctx context.Context, session lathe.SessionID, before int64, limit int) (l loader, err error) {
	err = s.read(ctx, func(v *view) error {
		return v.load(&l, session, `m.seq < ?2 ORDER BY m.seq DESC LIMIT `+strconv.Itoa(limit), before, "")
	})
	if err == nil {
		err = s.overlay(ctx, &l)
	}
	return l, err
}

// Tail returns the messages from the stored boundary on, oldest first. What lies
// before the boundary costs nothing.
func (s messages) Tail(ctx context.Context, session lathe.SessionID) ([]lathe.Message, error) {
	return s.tail(ctx, session, "")
}

// TurnTail is Tail for a turn in progress: it leaves out the step marks before
// the newest answer, which are most of the parts of a long turn and mean
// nothing to a model. A mark between two steps of one message stays.
func (s messages) TurnTail(ctx context.Context, session lathe.SessionID) ([]lathe.Message, error) {
	return s.tail(ctx, session, ` AND NOT ((kind = '`+codec.KindStepFinish+`' OR (kind = '`+codec.KindStepStart+`' AND seq = 1))
		AND message < (SELECT max(n) FROM message WHERE session = (SELECT n FROM session WHERE id = ?1) AND role = 'assistant'))`)
}

func (s messages) tail(ctx context.Context, session lathe.SessionID, which string) ([]lathe.Message, error) {
	var l loader
	err := s.read(ctx, func(v *view) error {
		var from int64
		err := v.row(`SELECT b.seq FROM session s JOIN boundary b ON b.session = s.n WHERE s.id = ?
			ORDER BY b.message DESC LIMIT 1`, session).Scan(&from)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return v.load(&l, session, `m.seq >= ?2 ORDER BY m.seq`, from, which)
	})
	if err == nil {
		err = s.overlay(ctx, &l)
	}
	if err != nil {
		return nil, fmt.Errorf("tail of session %s: %w", session, err)
	}
	return l.messages, nil
}

// DropMessages removes all messages of a session. What they cost stays counted.
func (tx *tx) DropMessages(session lathe.SessionID) error {
	err := spending{tx}.keep(session, "")
	if err == nil {
		_, err = tx.exec(`DELETE FROM message WHERE session = (SELECT n FROM session WHERE id = ?)`, session)
	}
	if err != nil {
		return fmt.Errorf("remove the messages of session %s: %w", session, err)
	}
	return nil
}
