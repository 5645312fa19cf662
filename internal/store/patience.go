package store

import "context"

// patience is the key of a context for patient calls.
type patience struct{}

// Patient returns a context for calls that go on waiting for a store which cannot be reached, for
// minutes, where others get [ErrAway] after seconds: those of a turn, which would be lost. It has the
// same effect on contexts made from it, but once ctx is cancelled on none of them.
func Patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, patience{}, ctx.Done())
}

// Hasty returns a context for calls that do not wait longer than others though ctx is patient:
// somebody else waits for them.
func Hasty(ctx context.Context) context.Context {
	if _, patient := Patience(ctx); !patient {
		return ctx
	}
	return context.WithValue(ctx, patience{}, nil)
}

// Patience reports whether a call is to wait for a store that cannot be reached, and returns what is
// closed when it is not any more.
func Patience(ctx context.Context) (hurry <-chan struct{}, patient bool) {
	hurry, patient = ctx.Value(patience{}).(<-chan struct{})
	select {
	case <-hurry:
		return hurry, false
	default:
		return hurry, patient
	}
}
