package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

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

// insertMessage returns the number of the row; 0 if it will have one.
func (tx *tx) insertMessage(m *lathe.Message) (n int64, err error) {
	if err := tx.own(m.SessionID); err != nil {
		return 0, err
	}
	row, err := tx.messageRow(m)
	if err != nil {
		return 0, err
	}
	args := []any{string(m.ID), m.SessionID, row.role, codec.Millis(m.Created), row.completed, row.open, row.summary,
		len(m.Parts), row.data, row.blobs}
	mine := tx.mine[m.SessionID]
	if seq, ok := mine.nextMessage(); ok {
		mine.learnMessage(m.ID, seq, len(m.Parts))
		tx.pipe.later(statement{query: insertNextMessage, args: append(args, seq), doing: "add message " + string(m.ID), none: errRecall})
		m.Seq = seq
		return 0, nil
	}
	var seq, added *int64
	err = tx.row(insertMessage, args...).Scan(&seq, &added)
	switch {
	case err != nil:
		return 0, err
	case seq == nil:
		return 0, fmt.Errorf("session %s: %w", m.SessionID, store.ErrNotFound)
	case added == nil:
		return 0, store.ErrExists
	}
	m.Seq = *seq
	mine.learnMessage(m.ID, m.Seq, len(m.Parts))
	return *added, nil
}

// insertMessage counts a message in its session, adds it, and notes that it has to be indexed.
const insertMessage = `WITH
	ses AS (UPDATE session SET messages = messages + 1 WHERE id = $2 RETURNING n, messages),` + newMessage + `
	SELECT (SELECT messages FROM ses), (SELECT n FROM new)`

// insertNextMessage is insertMessage for one that has to get a certain number.
const insertNextMessage = `WITH
	ses AS (UPDATE session SET messages = messages + 1 WHERE id = $2 AND messages = $11::bigint - 1 RETURNING n, messages),` + newMessage + `
	SELECT 1 / count(*) FROM new`

const newMessage = `
	new AS (INSERT INTO message (id, session, seq, role, created, completed, open, summary, parts, data, blobs)
		SELECT $1, n, messages, $3, $4, $5, $6, $7, $8, $9, $10 FROM ses ON CONFLICT DO NOTHING RETURNING n, session, seq),
	later AS (INSERT INTO search_later (session, seq) SELECT session, seq FROM new ON CONFLICT DO NOTHING)`

type messageRow struct {
	role          string
	completed     int64
	open, summary bool
	document
}

func (tx *tx) messageRow(m *lathe.Message) (r messageRow, err error) {
	var e codec.Encoder
	role, doc, err := e.Info(m.Info)
	if err != nil {
		return r, err
	}
	r.role, r.data = role, tx.db.pack(doc)
	if a, ok := m.Info.(*lathe.Assistant); ok {
		r.open, r.summary, r.completed = a.Completed.IsZero(), a.Summary, codec.Millis(a.Completed)
	}
	r.blobs, err = tx.saveBlobs(e.Blobs)
	return r, err
}

// ofSession is the number of the session whose identifier is $2.
const ofSession = `(SELECT n FROM session WHERE id = $2)`

// UpdateMessage implements [store.Tx].
func (tx *tx) UpdateMessage(m *lathe.Message) error {
	if err := tx.own(m.SessionID); err != nil {
		return err
	}
	if m.Damage != "" {
		return tx.change(`UPDATE message SET open = false WHERE id = $1 AND session = `+ofSession, m.ID, m.SessionID)
	}
	row, err := tx.messageRow(m)
	if err != nil {
		return fmt.Errorf("update message %s: %w", m.ID, err)
	}
	tx.must("update message "+string(m.ID), store.ErrNotFound,
		`UPDATE message SET role = $3, created = $4, completed = $5, open = $6, summary = $7, data = $8, blobs = $9
			WHERE id = $1 AND session = `+ofSession,
		m.ID, m.SessionID, row.role, codec.Millis(m.Created), row.completed, row.open, row.summary, row.data, row.blobs)
	return nil
}

// RemoveMessage implements [store.Tx].
func (tx *tx) RemoveMessage(session lathe.SessionID, id lathe.MessageID) error {
	err := tx.own(session)
	if err == nil {
		err = spending{tx}.keep(session, id)
	}
	if err == nil {
		err = tx.change(`DELETE FROM message WHERE id = $1 AND session = `+ofSession, id, session)
	}
	if err != nil {
		return fmt.Errorf("remove message %s: %w", id, err)
	}
	return nil
}

// DropMessages implements [store.Tx].
func (tx *tx) DropMessages(session lathe.SessionID) error {
	err := tx.own(session)
	if err == nil {
		err = spending{tx}.keep(session, "")
	}
	if err == nil {
		_, err = tx.exec(`DELETE FROM message WHERE session = (SELECT n FROM session WHERE id = $1)`, session)
	}
	if err != nil {
		return fmt.Errorf("remove the messages of session %s: %w", session, err)
	}
	return nil
}

// SetBoundary implements [store.Tx].
func (tx *tx) SetBoundary(session lathe.SessionID, seq int64) error {
	err := tx.own(session)
	switch {
	case err != nil:
	case seq == 0:
		_, err = tx.exec(`DELETE FROM boundary WHERE session = (SELECT n FROM session WHERE id = $1)`, session)
	default:
		err = tx.change(`INSERT INTO boundary (message, session, seq)
			SELECT m.n, m.session, $1 FROM message m WHERE m.session = `+ofSession+`
			ORDER BY m.summary DESC, m.seq DESC LIMIT 1
			ON CONFLICT (message) DO UPDATE SET seq = excluded.seq`, seq, session)
	}
	if err != nil {
		return fmt.Errorf("set boundary of session %s: %w", session, err)
	}
	return nil
}

// messages is a [store.MessageReader].
type messages struct{ *core }

// NewestMessage implements [store.MessageReader].
func (s messages) NewestMessage(ctx context.Context, session lathe.SessionID) (id lathe.MessageID, err error) {
	err = s.glance(ctx, func(v *view) error {
		err := v.row(`SELECT id FROM message WHERE session = (SELECT n FROM session WHERE id = $1) ORDER BY seq DESC LIMIT 1`, session).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("newest message of session %s: %w", session, err)
	}
	return id, nil
}

// HasPart implements [store.MessageReader].
func (s messages) HasPart(ctx context.Context, id lathe.PartID) (has bool, err error) {
	err = s.glance(ctx, func(v *view) error {
		return v.row(`SELECT EXISTS (SELECT 1 FROM part WHERE id = $1)`, clean(string(id))).Scan(&has)
	})
	if err != nil {
		return false, fmt.Errorf("look for part %s: %w", id, err)
	}
	return has, nil
}

// Message implements [store.MessageReader].
func (s messages) Message(ctx context.Context, session lathe.SessionID, id lathe.MessageID) (lathe.Message, error) {
	var found loaded
	err := s.reread(ctx, func(v *view) (err error) {
		found, err = v.load(session, `m.id = $2`, clean(string(id)), "")
		return err
	})
	if err == nil && len(found.messages) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return lathe.Message{}, fmt.Errorf("message %s: %w", id, err)
	}
	return found.messages[0], nil
}

// page is how many messages are held in memory while streaming.
const page = 32

// Messages implements [store.MessageReader].
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
			var found loaded
			err := s.reread(ctx, func(v *view) (err error) {
				found, err = v.load(session, `m.seq < $2 ORDER BY m.seq DESC LIMIT `+strconv.Itoa(want), before, "")
				return err
			})
			if err != nil {
				yield(lathe.Message{}, fmt.Errorf("messages of session %s: %w", session, err))
				return
			}
			for _, m := range slices.Backward(found.messages) {
				if !yield(m, nil) {
					return
				}
			}
			before, left = found.lowest, left-found.rows
			if found.rows < want || (f.Limit > 0 && left <= 0) {
				return
			}
		}
	}
}

// Tail implements [store.MessageReader].
func (s messages) Tail(ctx context.Context, session lathe.SessionID) ([]lathe.Message, error) {
	return s.tail(ctx, session, "")
}

// TurnTail implements [store.MessageReader].
func (s messages) TurnTail(ctx context.Context, session lathe.SessionID) ([]lathe.Message, error) {
	return s.tail(ctx, session, ` AND NOT ((kind = '`+codec.KindStepFinish+`' OR (kind = '`+codec.KindStepStart+`' AND seq = 1))
		AND message < coalesce((SELECT n FROM message WHERE session = (SELECT session FROM message WHERE n = ($1::bigint[])[1])
			AND role = '`+codec.RoleAssistant+`' ORDER BY seq DESC LIMIT 1), 0))`)
}

func (s messages) tail(ctx context.Context, session lathe.SessionID, which string) ([]lathe.Message, error) {
	var found loaded
	err := s.reread(ctx, func(v *view) error {
		var from int64
		err := v.row(`SELECT b.seq FROM session s JOIN boundary b ON b.session = s.n WHERE s.id = $1
			ORDER BY b.message DESC LIMIT 1`, session).Scan(&from)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		found, err = v.load(session, `m.seq >= $2 ORDER BY m.seq`, from, which)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tail of session %s: %w", session, err)
	}
	return found.messages, nil
}
