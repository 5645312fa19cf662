package gate

import (
	"net"
	"sync"
)

const maxConnections = 4096

// Limit bounds the number of connections that are open at once; those beyond wait.
func Limit(l net.Listener) net.Listener {
	return limit(l, maxConnections)
}

func limit(l net.Listener, n int) net.Listener {
	return &limited{Listener: l, slots: make(chan struct{}, n), done: make(chan struct{})}
}

type limited struct {
	net.Listener
	slots chan struct{}
	once  sync.Once
	done  chan struct{}
}

// Accept waits for a connection and a place for it.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &counted{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close stops accepting.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type counted struct {
	net.Conn
	free func()
}

// NetConn returns the connection itself.
func (c *counted) NetConn() net.Conn { return c.Conn }

// Close closes the connection and gives its place back.
func (c *counted) Close() error {
	c.free()
	return c.Conn.Close()
}
