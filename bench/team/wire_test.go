//go:build unix

package team

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"
)

// wire carries the connections of one process to the database.
type wire struct {
	url    string
	socket string
	listen net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
	held  chan struct{} // closed to let bytes pass again; nil: they pass
}

func newWire(t testing.TB, socket string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w := &wire{socket: socket, listen: l, conns: map[net.Conn]bool{}, url: fmt.Sprintf("postgres://lathe@%s/postgres?sslmode=disable&pool_max_conns=4", l.Addr())}
	go w.serve()
	t.Cleanup(func() { _ = l.Close(); w.cut() })
	return w
}

func (w *wire) serve() {
	for {
		c, err := w.listen.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("unix", w.socket)
		if err != nil {
			_ = c.Close()
			continue
		}
		w.mu.Lock()
		w.conns[c], w.conns[to] = true, true
		w.mu.Unlock()
		go w.carry(c, to)
		go w.carry(to, c)
	}
}

func (w *wire) carry(from, to net.Conn) {
	defer func() {
		_, _ = from.Close(), to.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.conns, from)
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		w.mu.Lock()
		held := w.held
		w.mu.Unlock()
		if held != nil {
			<-held
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// cut closes all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_ = c.Close()
	}
}

// hold delays what is sent.
func (w *wire) hold(d time.Duration) {
	held := make(chan struct{})
	w.mu.Lock()
	w.held = held
	w.mu.Unlock()
	time.Sleep(d)
	w.mu.Lock()
	w.held = nil
	w.mu.Unlock()
	close(held)
}
