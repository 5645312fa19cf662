package sqlite

import (
	"context"

	"lathe"
	"lathe/internal/store"
)

// In tests a write may be a transaction of its own.

func (s *DB) CreateSession(ctx context.Context, ses lathe.Session) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.CreateSession(ses) })
}

func (s *DB) UpdateSession(ctx context.Context, id lathe.SessionID, change func(*lathe.Session) error) (ses lathe.Session, err error) {
	err = s.Batch(ctx, func(tx store.Tx) error {
		ses, err = tx.UpdateSession(id, change)
		return err
	})
	return ses, err
}

func (s *DB) DeleteSession(ctx context.Context, id lathe.SessionID) (gone []lathe.Session, err error) {
	err = s.Batch(ctx, func(tx store.Tx) error {
		gone, err = tx.DeleteSession(id)
		return err
	})
	return gone, err
}

func (s *DB) Recover(ctx context.Context, id lathe.SessionID) (closed []lathe.Part, err error) {
	err = s.Batch(ctx, func(tx store.Tx) error {
		closed, err = tx.Recover(id, Self())
		return err
	})
	return closed, err
}

func (s *DB) AddMessage(ctx context.Context, m *lathe.Message) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.AddMessage(m) })
}

func (s *DB) UpdateMessage(ctx context.Context, m *lathe.Message) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.UpdateMessage(m) })
}

func (s *DB) RemoveMessage(ctx context.Context, session lathe.SessionID, id lathe.MessageID) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.RemoveMessage(session, id) })
}

func (s *DB) SetBoundary(ctx context.Context, session lathe.SessionID, seq int64) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.SetBoundary(session, seq) })
}

func (s *DB) PutPart(ctx context.Context, p *lathe.Part) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.PutPart(p) })
}

func (s *DB) RemovePart(ctx context.Context, id lathe.PartID) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.RemovePart(id) })
}

func (s *DB) SetTodos(ctx context.Context, session lathe.SessionID, todos []lathe.Todo) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.SetTodos(session, todos) })
}

func (s *DB) SetDiffs(ctx context.Context, session lathe.SessionID, message lathe.MessageID, diffs []lathe.FileDiff) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.SetDiffs(session, message, diffs) })
}

func (s *DB) SetValue(ctx context.Context, session lathe.SessionID, key string, value []byte) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.SetValue(session, key, value) })
}

func (s *DB) PutProject(ctx context.Context, p lathe.Project) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.PutProject(p) })
}

func (s *DB) UpdateProject(ctx context.Context, id string, change func(*lathe.Project) error) (p lathe.Project, err error) {
	err = s.Batch(ctx, func(tx store.Tx) error {
		p, err = tx.UpdateProject(id, change)
		return err
	})
	return p, err
}

func (s *DB) PutApproval(ctx context.Context, owner string, r lathe.Rule) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.PutApproval(owner, r) })
}
