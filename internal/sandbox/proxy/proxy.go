// Package proxy is the one way from a command to other hosts: an HTTP proxy (CONNECT
// and plain requests) and SOCKS5, on listeners that it is given. Each connection
// belongs to a [Door], the way out of one command, whose [Judge] says for each host
// whether it may be reached. The judge is asked before a name is looked up, and again
// if the name leads to an address of this machine, a private network or the local
// link; the address that was judged is the one that is connected to. Nothing that
// passes is kept or logged except the number of bytes for each host.
package proxy

import (
	"bufio"
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"lathe/internal/netguard"
)

const (
	maxDoor    = 512              // connections of one command
	maxAll     = 2048             // connections of all
	maxHead    = 64 << 10         // bytes of a request's head
	headTime   = 30 * time.Second // for a request to arrive
	dialTime   = 30 * time.Second // for a connection to be made
	lookupTime = 10 * time.Second
	idleTime   = 15 * time.Minute // without traffic either way
)

// Options set up a [Proxy].
type Options struct {
	// Own is where lathe itself listens: nothing is ever connected to it.
	Own *netguard.Listeners
	// Upstream returns the person's own proxy for an address, or nil for none. Nil
	// means that there is none at all.
	Upstream func(*url.URL) (*url.URL, error)
	// Lookup resolves a name; nil: as the system does.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address; nil: over TCP.
	Dial func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// Proxy serves the doors of a process. Nothing runs before the first [Proxy.Serve].
type Proxy struct {
	opts Options
	ctx  context.Context // ends with the proxy
	end  context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
	listen map[net.Listener]struct{}
	web    *webListener // what hands connections to the HTTP server; nil: none was needed
	server *http.Server
	users  map[string]*Door // by the names that their commands give; see Door.Local
	local  net.Addr         // where their connections arrive
	wg     sync.WaitGroup
}

// New returns a Proxy. Close it.
func New(o Options) *Proxy {
	if o.Lookup == nil {
		o.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Dial == nil {
		dialer := &net.Dialer{Timeout: dialTime}
		o.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", to.String())
		}
	}
	p := &Proxy{opts: o, conns: map[net.Conn]struct{}{}, listen: map[net.Listener]struct{}{}, users: map[string]*Door{}}
	p.ctx, p.end = context.WithCancelCause(context.Background())
	return p
}

// ErrClosed is the error of a proxy that was closed.
var ErrClosed = errors.New("the proxy is closed")

// Serve accepts connections from a listener until it or the proxy is closed, and then
// closes it. who returns the door for the user name that the client gave, "" for
// none; nil means that the client has to give another name.
func (p *Proxy) Serve(l net.Listener, who func(user string) *Door) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		l.Close()
		return ErrClosed
	}
	p.listen[l] = struct{}{}
	p.startWeb()
	p.wg.Add(1)
	p.mu.Unlock()
	defer p.wg.Done()
	defer func() {
		l.Close()
		p.mu.Lock()
		delete(p.listen, l)
		p.mu.Unlock()
	}()
	for {
		conn, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		if p.enter(conn) {
			p.wg.Go(func() { p.sniff(conn, who) })
		}
	}
}

// enter notes a connection, unless there are too many or the proxy is closed.
func (p *Proxy) enter(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.conns) >= maxAll {
		c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) leave(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// Close ends all doors, connections and listeners and returns when nothing is running any more.
func (p *Proxy) Close() error {
	p.end(ErrClosed)
	p.mu.Lock()
	p.closed = true
	for l := range p.listen {
		l.Close()
	}
	for c := range p.conns {
		c.Close()
	}
	server := p.server
	p.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
	p.wg.Wait()
	return nil
}

// client is a connection of a command, with what was already read from it and its door.
type client struct {
	net.Conn
	in  *bufio.Reader
	who func(user string) *Door
	end func()
}

func (c *client) Read(b []byte) (int, error) { return c.in.Read(b) }

// Close ends the connection and frees its place.
func (c *client) Close() error {
	c.end()
	return nil
}

// CloseWrite says that nothing more will be written.
func (c *client) CloseWrite() error { return closeWrite(c.Conn) }

// sniff finds out from its first byte which protocol a connection speaks.
func (p *Proxy) sniff(conn net.Conn, who func(string) *Door) {
	c := &client{Conn: conn, in: bufio.NewReaderSize(conn, 4<<10), who: who}
	c.end = sync.OnceFunc(func() { p.leave(conn) })
	_ = conn.SetReadDeadline(time.Now().Add(headTime))
	first, err := c.in.Peek(1)
	switch {
	case err != nil:
		c.Close()
	case first[0] == socksVersion:
		defer c.Close()
		p.socks(c)
	case !p.web.hand(c):
		c.Close()
	}
}

// startWeb starts the HTTP server. The caller holds mu.
func (p *Proxy) startWeb() {
	if p.web != nil {
		return
	}
	p.web = &webListener{conns: make(chan net.Conn), done: make(chan struct{})}
	p.server = &http.Server{
		Handler: http.HandlerFunc(p.serveHTTP), MaxHeaderBytes: maxHead, ReadHeaderTimeout: headTime, IdleTimeout: headTime,
		ErrorLog: log.New(discard{}, "", 0), DisableGeneralOptionsHandler: true,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, clientKey{}, c) },
	}
	p.wg.Go(func() { _ = p.server.Serve(p.web) })
}

type clientKey struct{}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// webListener gives the HTTP server the connections that speak HTTP.
type webListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (w *webListener) hand(c net.Conn) bool {
	select {
	case w.conns <- c:
		return true
	case <-w.done:
		return false
	}
}

// Accept returns the next connection.
func (w *webListener) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}

// Close ends the server's loop.
func (w *webListener) Close() error {
	w.once.Do(func() { close(w.done) })
	return nil
}

// Addr returns a placeholder.
func (w *webListener) Addr() net.Addr { return &net.UnixAddr{Name: "proxy", Net: "unix"} }
