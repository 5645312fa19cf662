// Package storetest is the suite that every store has to pass, with helpers for tests that use a store.
package storetest

import (
	"context"

	"lathe"
	"lathe/internal/store"
)

// Store is a store whose writes are transactions of their own, for tests.
type Store struct{ *store.Store }

// CreateSession is that of [store.Tx].
func (s Store) CreateSession(ctx context.Context, ses lathe.Session) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.CreateSession(ses) })
}

// UpdateSession is that of [store.Tx].
func (s Store) UpdateSession(ctx context.Context, id lathe.SessionID, change func(*lathe.Session) error) (ses lathe.Session, err error) {
	err = s.Batch(ctx, func(tx store.Tx) error {
		ses, err = tx.UpdateSession(id, change)
		return err
	})
	return ses, err
}

// DeleteSession is that of [store.Tx].
func (s Store) DeleteSession(ctx context.Context, id lathe.SessionID) (gone []lathe.Session, err error) {
	err = s.Batch(ctx, func(tx store.Tx) error {
		gone, err = tx.DeleteSession(id)
		return err
	})
	return gone, err
}

// Recover is that of [store.Tx].
func (s Store) Recover(ctx context.Context, id lathe.SessionID, self store.Owner) (closed []lathe.Part, err error) {
	err = s.Batch(ctx, func(tx store.Tx) error {
		closed, err = tx.Recover(id, self)
		return err
	})
	return closed, err
}

// AddMessage is that of [store.Tx].
func (s Store) AddMessage(ctx context.Context, m *lathe.Message) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.AddMessage(m) })
}

// UpdateMessage is that of [store.Tx].
func (s Store) UpdateMessage(ctx context.Context, m *lathe.Message) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.UpdateMessage(m) })
}

// RemoveMessage is that of [store.Tx].
func (s Store) RemoveMessage(ctx context.Context, session lathe.SessionID, id lathe.MessageID) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.RemoveMessage(session, id) })
}

// SetBoundary is that of [store.Tx].
func (s Store) SetBoundary(ctx context.Context, session lathe.SessionID, seq int64) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.SetBoundary(session, seq) })
}

// PutPart is that of [store.Tx].
func (s Store) PutPart(ctx context.Context, p *lathe.Part) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.PutPart(p) })
}

// RemovePart is that of [store.Tx].
func (s Store) RemovePart(ctx context.Context, id lathe.PartID) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.RemovePart(id) })
}

// SetTodos is that of [store.Tx].
func (s Store) SetTodos(ctx context.Context, session lathe.SessionID, todos []lathe.Todo) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.SetTodos(session, todos) })
}

// SetDiffs is that of [store.Tx].
func (s Store) SetDiffs(ctx context.Context, session lathe.SessionID, message lathe.MessageID, diffs []lathe.FileDiff) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.SetDiffs(session, message, diffs) })
}

// SetValue is that of [store.Tx].
func (s Store) SetValue(ctx context.Context, session lathe.SessionID, key string, value []byte) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.SetValue(session, key, value) })
}

// PutProject is that of [store.Tx].
func (s Store) PutProject(ctx context.Context, p lathe.Project) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.PutProject(p) })
}

// UpdateProject is that of [store.Tx].
func (s Store) UpdateProject(ctx context.Context, id string, change func(*lathe.Project) error) (p lathe.Project, err error) {
	err = s.Batch(ctx, func(tx store.Tx) error {
		p, err = tx.UpdateProject(id, change)
		return err
	})
	return p, err
}

// PutApproval is that of [store.Tx].
func (s Store) PutApproval(ctx context.Context, owner string, r lathe.Rule) error {
	return s.Batch(ctx, func(tx store.Tx) error { return tx.PutApproval(owner, r) })
}
