package session

import (
	"context"
	"slices"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
)

// Editor changes what is stored about sessions, for clients that edit the past. It
// refuses while the session is busy.
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
