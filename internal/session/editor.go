package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
)

// Editor changes what is stored about sessions: their titles, whether they are put away,
// and their past. What edits the past it refuses while the session is busy.
type Editor struct{ s *Service }

// PutPart stores a part that a client changed, while the session is idle. The
// part and its message must exist.
func (e *Editor) PutPart(ctx context.Context, p lathe.Part) error {
	return e.s.whileIdle(ctx, p.SessionID, func(sess lathe.Session) error {
		m, err := e.s.opts.Store.Message(ctx, p.SessionID, p.MessageID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(m.Parts, func(o lathe.Part) bool { return o.ID == p.ID })
		if i < 0 {
			return store.ErrNotFound
		}
		p.Seq = m.Parts[i].Seq
		return e.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
			err := tx.PutPart(&p)
			tx.Tell(sess.Directory, lathe.PartUpdated{Part: p})
			return err
		})
	})
}

// RemovePart removes a part, while the session is idle.
func (e *Editor) RemovePart(ctx context.Context, id lathe.SessionID, message lathe.MessageID, part lathe.PartID) error {
	return e.s.whileIdle(ctx, id, func(sess lathe.Session) error {
		m, err := e.s.opts.Store.Message(ctx, id, message)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(m.Parts, func(o lathe.Part) bool { return o.ID == part }) {
			return store.ErrNotFound
		}
		return e.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
			tx.Tell(sess.Directory, lathe.PartRemoved{SessionID: id, MessageID: message, PartID: part})
			return tx.RemovePart(part)
		})
	})
}

// RemoveMessage removes a message and its parts, while the session is idle.
func (e *Editor) RemoveMessage(ctx context.Context, id lathe.SessionID, message lathe.MessageID) error {
	return e.s.whileIdle(ctx, id, func(sess lathe.Session) error {
		return e.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
			tx.Tell(sess.Directory, lathe.MessageRemoved{SessionID: id, MessageID: message})
			return tx.RemoveMessage(id, message)
		})
	})
}

// Rename gives a session a title.
func (e *Editor) Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error) {
	if title == "" {
		return lathe.Session{}, lathe.Errorf(lathe.CodeInvalid, "", "the title is empty")
	}
	return e.change(ctx, id, func(sess *lathe.Session) { sess.Title = title })
}

// Archive puts a session away, or takes it out again. Nothing of it is removed.
func (e *Editor) Archive(ctx context.Context, id lathe.SessionID, on bool) (lathe.Session, error) {
	return e.change(ctx, id, func(sess *lathe.Session) {
		switch {
		case !on:
			sess.Archived = time.Time{}
		case sess.Archived.IsZero():
			sess.Archived = e.s.opts.Now()
		}
	})
}

func (e *Editor) change(ctx context.Context, id lathe.SessionID, f func(*lathe.Session)) (lathe.Session, error) {
	sess, err := e.s.Update(ctx, id, func(sess *lathe.Session) error { f(sess); return nil })
	if errors.Is(err, store.ErrNotFound) {
		_, err = e.s.Get(ctx, id)
	}
	return sess, err
}
