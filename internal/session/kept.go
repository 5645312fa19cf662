package session

import (
	"context"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
)

// Kept stores what tools and people leave behind between prompts: task lists and
// approvals.
type Kept struct {
	Store  *store.Store
	Writer *commit.Writer
}

// Todos returns the task list of a session; nil when there is none.
func (k Kept) Todos(ctx context.Context, session lathe.SessionID) ([]lathe.Todo, error) {
	return k.Store.Todos(ctx, session)
}

// SetTodos replaces the task list of a session and publishes it.
func (k Kept) SetTodos(ctx context.Context, session lathe.SessionID, todos []lathe.Todo) error {
	sess, err := k.Store.Session(ctx, session)
	if err != nil {
		return err
	}
	return k.Writer.Commit(ctx, func(tx *commit.Tx) error {
		tx.Tell(sess.Directory, lathe.TodoUpdated{SessionID: session, Todos: todos})
		return tx.SetTodos(session, todos)
	})
}

// Approvals returns the rules approved for an owner, oldest first.
func (k Kept) Approvals(ctx context.Context, owner string) ([]lathe.Rule, error) {
	return k.Store.Approvals(ctx, owner)
}

// PutApproval stores a rule that a person approved for an owner.
func (k Kept) PutApproval(ctx context.Context, owner string, r lathe.Rule) error {
	return k.Writer.Commit(ctx, func(tx *commit.Tx) error { return tx.PutApproval(owner, r) })
}

// DeleteApproval forgets one approval of an owner. It is no error if that approval is not stored.
func (k Kept) DeleteApproval(ctx context.Context, owner string, r lathe.Rule) error {
	return k.Writer.Commit(ctx, func(tx *commit.Tx) error { return tx.DeleteApproval(owner, r) })
}
