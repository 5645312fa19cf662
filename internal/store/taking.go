package store

import "context"

// Taking says that a worker took queued work. A worker that was not heard of for too long may
// believe in one that has ended, and act on it hours later.
type Taking struct {
	N  int64  // of the [Work]
	By string // the worker's [Owner.ID]
}

// Accepter is what the [Tx] of a store with a [Queue] can do, too.
type Accepter interface {
	// Accept has the transaction store what was asked with queued work, once: the transaction
	// fails as [Crew.Acceptable] does.
	Accept(t Taking) error
}

type takingKey struct{}

// WithTaking returns a context for what is done because a worker took work.
func WithTaking(ctx context.Context, t Taking) context.Context {
	return context.WithValue(ctx, takingKey{}, t)
}

// TakingOf returns what is done in a context for queued work; ok is false if it was not queued.
func TakingOf(ctx context.Context) (t Taking, ok bool) {
	t, ok = ctx.Value(takingKey{}).(Taking)
	return t, ok
}
