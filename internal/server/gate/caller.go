package gate

import (
	"context"
	"net"
	"net/http"
	"sync"

	"lathe/internal/shell"
)

// Commands knows the processes of the commands that run now.
type Commands interface {
	// Holder says who has the socket with this inode open.
	Holder(inode uint64) shell.Holder
	// Started reports whether the process is one of them.
	Started(pid int) bool
}

// caller is who is at the other end of a connection. It is determined once, on
// the first request.
type caller struct {
	conn  net.Conn
	once  sync.Once
	wrong string // why it may not come in
}

type callerKey struct{}

// WithCaller remembers the connection of its requests: an http.Server's ConnContext.
func WithCaller(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, callerKey{}, &caller{conn: c})
}

const (
	fromCommand = "commands that lathe runs may not use its server"
	fromUser    = "requests of another user of this machine need a password; start the server with one"
)

// checkCaller refuses requests from commands that tools run, and from tools within this
// process: a model that could call the server would answer its own permission asks. The
// faces of this process come without a connection. Without a password it also refuses
// other users of this machine. Callers that cannot be identified pass, as do other
// machines: those need the password.
func (g *Gate) checkCaller(r *http.Request) *refusal {
	c, ok := r.Context().Value(callerKey{}).(*caller)
	if !ok {
		return nil
	}
	c.once.Do(func() { c.wrong = callerFault(c.conn, g.commands, !g.open) })
	if c.wrong == "" {
		return nil
	}
	return &refusal{status: http.StatusForbidden, text: c.wrong}
}
