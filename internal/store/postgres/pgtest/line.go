package pgtest

import (
	"context"
	"io"
	"net"
	"time"
)

// Line is a connection that is lost at a write.
type Line struct {
	net.Conn
	// Strike is called before each write, and says whether the connection is lost with it.
	Strike func() bool
	// Part returns what arrives of what is written, whose answer is lost; nil: nothing does.
	Part func(b []byte) []byte
}

// All is a Part: everything arrives.
func All(b []byte) []byte { return b }

// Dialer returns how to open lines. Deaf, what is written arrives all the same, and its answer is lost.
func Dialer(strike func() bool, deaf bool) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		line := &Line{Conn: conn, Strike: strike}
		if deaf {
			line.Part = All
		}
		return line, nil
	}
}

func (l *Line) Write(b []byte) (int, error) {
	if !l.Strike() {
		return l.Conn.Write(b)
	}
	if l.Part != nil {
		_, _ = l.Conn.Write(l.Part(b)) // what comes back is lost
		// A connection that is closed with something unread in it may take along what was written.
		if half, ok := l.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			_ = l.SetReadDeadline(time.Now().Add(time.Minute))
			_, _ = io.Copy(io.Discard, l.Conn)
		}
	}
	_ = l.Close()
	return 0, net.ErrClosed
}
