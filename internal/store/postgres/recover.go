package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// Recover implements [store.Tx]. The lease of an owner that is gone goes first, so that
// it is refused if it comes back.
func (tx *tx) Recover(session lathe.SessionID, self store.Owner) (changed []lathe.Part, err error) {
	// Nobody takes the lease in between.
	if _, err := tx.exec(`SELECT 1 FROM session WHERE id = $1 FOR NO KEY UPDATE`, session); err != nil {
		return nil, err
	}
	held, ok, err := tx.holder(session)
	if err == nil && ok && held.Owner != self {
		err = &store.BusyError{Session: session, Holder: held}
	}
	if err == nil {
		_, err = tx.exec(`DELETE FROM lease WHERE owner <> $1 AND session = `+ofSession, self.ID, session)
	}
	c := closing{tx}
	if err == nil {
		changed, err = c.closeParts(session)
	}
	if err == nil {
		err = c.closeMessages(session)
	}
	if err == nil {
		tx.later("", `DELETE FROM unclosed u USING message m WHERE u.session = (SELECT n FROM session WHERE id = $1) AND m.n = u.message AND NOT (`+stillOpen+`)`, session)
		err = c.endCompacting(session)
	}
	if err != nil {
		return nil, fmt.Errorf("recover session %s: %w", session, err)
	}
	return changed, nil
}

// Unclosed implements [store.SessionReader].
func (s sessions) Unclosed(ctx context.Context) (ids []lathe.SessionID, err error) {
	err = s.read(ctx, func(v *view) error {
		return v.rows(func(row pgx.Row) error {
			var id lathe.SessionID
			err := row.Scan(&id)
			ids = append(ids, id)
			return err
		}, `SELECT id FROM session WHERE n IN (SELECT u.session FROM unclosed u JOIN message m ON m.n = u.message WHERE `+stillOpen+`) ORDER BY n`)
	})
	if err != nil {
		return nil, fmt.Errorf("list unclosed sessions: %w", err)
	}
	return ids, nil
}

// stillOpen is the condition that a message m, which unclosed names, is open or has an open
// part: it is named a little longer where its last part was closed after it.
const stillOpen = `m.open OR EXISTS (SELECT 1 FROM part p WHERE p.message = m.n AND p.open)`

// openParts are the open parts p of a session ($1), with their messages m.
const openParts = `unclosed u JOIN message m ON m.n = u.message JOIN part p ON p.message = m.n
	WHERE u.session = (SELECT n FROM session WHERE id = $1) AND p.open`

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

// openParts returns the open parts with all of their text, in order, and locks them.
func (tx closing) openParts(session lathe.SessionID) (parts []lathe.Part, err error) {
	_, err = tx.exec(`SELECT 1 FROM `+openParts+` FOR UPDATE OF p`, session)
	if err != nil {
		return nil, err
	}
	var read []partRead
	var of []lathe.MessageID
	err = tx.rows(func(row pgx.Row) error {
		read, of = append(read, partRead{}), append(of, "")
		return row.Scan(append(read[len(read)-1].dest(), &of[len(of)-1])...)
	}, `SELECT `+partColumns+`, m.id FROM `+openParts+` ORDER BY m.seq, p.seq`, session)
	if err != nil {
		return nil, err
	}
	var docs []document
	for i := range read {
		docs = append(docs, read[i].document)
	}
	bodies, err := tx.bodies(docs)
	for i := range read {
		if err != nil {
			return nil, err
		}
		var p lathe.Part
		if p, err = tx.decodePart(&read[i], bodies, session, of[i]); p.Body != nil {
			parts = append(parts, p)
		}
	}
	return parts, err
}

func (tx closing) closeMessages(session lathe.SessionID) error {
	var read []messageRead
	err := tx.rows(func(row pgx.Row) error {
		read = append(read, messageRead{})
		return read[len(read)-1].scan(row)
	}, `SELECT `+messageColumns+` FROM unclosed u JOIN message m ON m.n = u.message
		WHERE u.session = (SELECT n FROM session WHERE id = $1) AND m.open ORDER BY m.seq`, session)
	if err != nil {
		return err
	}
	for i := range read {
		m, err := tx.decodeMessage(&read[i], nil) // an answer refers to no body
		if err != nil {
			return err
		}
		a, ok := m.Info.(*lathe.Assistant)
		if !ok {
			continue
		}
		m.SessionID, a.Completed = session, tx.db.now()
		if a.Error == nil {
			a.Error = &lathe.AbortedFailure{Message: store.AbortedMessage}
		}
		if err := tx.UpdateMessage(&m); err != nil {
			return err
		}
	}
	return nil
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
