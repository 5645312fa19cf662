package session

import (
	"context"

	"lathe"
	"lathe/internal/store"
)

// Kept keeps in a store what tools and people leave behind between prompts: task
// lists and approvals.
type Kept struct{ *store.Store }

// SetTodos replaces the task list of a session.
func (k Kept) SetTodos(ctx context.Context, session lathe.SessionID, todos []lathe.Todo) error {
	return k.Batch(ctx, func(tx store.Tx) error { return tx.SetTodos(session, todos) })
}

// PutApproval stores a rule that a person approved for an owner.
func (k Kept) PutApproval(ctx context.Context, owner string, r lathe.Rule) error {
	return k.Batch(ctx, func(tx store.Tx) error { return tx.PutApproval(owner, r) })
}

// DeleteApproval forgets one approval of an owner. One that is not stored is no error.
func (k Kept) DeleteApproval(ctx context.Context, owner string, r lathe.Rule) error {
	return k.Batch(ctx, func(tx store.Tx) error { return tx.DeleteApproval(owner, r) })
}
