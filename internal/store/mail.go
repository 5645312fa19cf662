package store

import "context"

// Mail lets servers that share a store ask each other to do something. A store of one
// machine has none.
type Mail interface {
	// Others returns the servers that are at work now, without this one: those that hold a
	// lease, and those that held one a few seconds ago.
	Others(ctx context.Context) ([]Owner, error)
	// Send has another server do something, once at most, and returns what it answers. The
	// error is [ErrAway] if that server is gone before it has answered.
	Send(ctx context.Context, to Owner, body []byte) (answer []byte, err error)
	// Receive calls handle with what others ask of this server, several at once, until ctx
	// ends. It returns when all have ended. What handle returns is the answer.
	Receive(ctx context.Context, handle func(ctx context.Context, body []byte) []byte)
}
