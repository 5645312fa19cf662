package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// Recover closes what a process that died left open in a session: tool calls
// fail as interrupted, texts end where they were checkpointed, unfinished
// answers are completed as aborted. It returns the parts it changed. If a living
// process other than this one holds the lease, nothing changes and the error is
// a [*store.BusyError].
func (tx *tx) Recover(session lathe.SessionID, self store.Owner) (changed []lathe.Part, err error) {
	held, ok, err := tx.holder(session)
	if err == nil && ok && held.Owner != self {
		err = &store.BusyError{Session: session, Holder: held}
	}
	if err == nil {
		c := closing{tx}
		changed, err = c.closeParts(session)
		err = errors.Join(err, c.closeMessages(session), c.endCompacting(session))
	}
	if err != nil {
		return nil, fmt.Errorf("recover session %s: %w", session, err)
	}
	return changed, nil
}

// Unclosed returns the sessions in which something is open, by creation.
func (s sessions) Unclosed(ctx context.Context) (ids []lathe.SessionID, err error) {
	err = s.read(ctx, func(v *view) error {
		rows, err := v.query(`SELECT id FROM session WHERE n IN (SELECT session FROM message WHERE open = 1
			UNION SELECT m.session FROM part p JOIN message m ON m.n = p.message WHERE p.open = 1) ORDER BY n`)
		if err != nil {
			return fmt.Errorf("list unclosed sessions: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var id lathe.SessionID
			if err := rows.Scan(&id); err != nil {
				return fmt.Errorf("list unclosed sessions: %w", err)
			}
			ids = append(ids, id)
		}
		return rows.Err()
	})
	return ids, err
}

// closing closes what an owner that is gone left open.
type closing struct{ *tx }

func (tx closing) closeParts(session lathe.SessionID) ([]lathe.Part, error) {
	parts, err := tx.openParts(session)
	if err != nil {
		return nil, err
	}
	now := tx.db.now()
	for i := range parts {
		parts[i].Body = codec.Closed(parts[i].Body, now)
		if err := tx.PutPart(&parts[i]); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// openParts returns the open parts with all of their text, in order.
func (tx closing) openParts(session lathe.SessionID) (parts []lathe.Part, err error) {
	rows, err := tx.query(`SELECT m.id, p.n, p.id, p.seq, p.kind, p.open, p.rev, p.size, p.data
		FROM part p INDEXED BY part_open CROSS JOIN message m ON m.n = p.message CROSS JOIN session s ON s.n = m.session
		WHERE p.open = 1 AND s.id = ? ORDER BY m.seq, p.seq`, session)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var message lathe.MessageID
		var r partRow
		if err := rows.Scan(append([]any{&message}, r.dest()...)...); err != nil {
			return nil, err
		}
		p, err := tx.part(&r, session, message)
		if err == nil && r.streams() {
			err = tx.db.texts.add(&p, r.text())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if p.Body != nil {
			parts = append(parts, p)
		}
	}
	return parts, rows.Err()
}

func (tx closing) closeMessages(session lathe.SessionID) error {
	messages, err := tx.openMessages(session)
	if err != nil {
		return err
	}
	for i := range messages {
		a := messages[i].Info.(*lathe.Assistant)
		a.Completed = tx.db.now()
		if a.Error == nil {
			a.Error = &lathe.AbortedFailure{Message: store.AbortedMessage}
		}
		if err := tx.UpdateMessage(&messages[i]); err != nil {
			return err
		}
	}
	return nil
}

func (tx closing) openMessages(session lathe.SessionID) (out []lathe.Message, err error) {
	rows, err := tx.query(`SELECT m.n, m.id, m.seq, m.role, m.created, m.data FROM message m INDEXED BY message_open
		WHERE m.session = (SELECT n FROM session WHERE id = ?) AND m.open = 1 ORDER BY m.seq`, session)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		m, err := tx.scanMessage(rows, session)
		if err != nil {
			return nil, err
		}
		if _, ok := m.Info.(*lathe.Assistant); ok {
			out = append(out, m)
		}
	}
	return out, rows.Err()
}

func (tx closing) endCompacting(session lathe.SessionID) error {
	ses, err := tx.session(session)
	if err != nil || ses.Compacting.IsZero() {
		return err
	}
	_, err = tx.UpdateSession(session, func(s *lathe.Session) error {
		s.Compacting = time.Time{}
		return nil
	})
	return err
}
