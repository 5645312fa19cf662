package proxy

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
)

// Local returns the address of the door for a command that is not in a network
// namespace of its own, with the user name that tells it from others. Whoever does not
// take it is not held by it: it is advice. The listener is one for all doors, on
// loopback, and is there from the first call on.
func (d *Door) Local() (*url.URL, error) {
	p := d.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if p.local == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("listen for commands: %w", err)
		}
		p.local = l.Addr()
		p.wg.Go(func() { _ = p.Serve(l, p.byUser) })
	}
	if d.user == "" {
		d.user = rand.Text()
		p.users[d.user] = d
	}
	return &url.URL{Scheme: "http", User: url.UserPassword(d.user, "x"), Host: p.local.String()}, nil
}

func (p *Proxy) byUser(name string) *Door {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.users[name]
}

func (p *Proxy) forget(d *Door) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.users, d.user)
}
