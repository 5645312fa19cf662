package proxy

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"lathe/internal/netguard"
)

// Local returns the address of the door for a command that is not in a network
// namespace of its own, with the user name that identifies it. A program that does not
// use it is not bound by it: it is only advice. There is one listener for all doors,
// on loopback, from the first call on.
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

// Near judges a server of this machine's loopback to which the command connects without
// the proxy. Rules name it localhost. If it may, serve forwards connections that arrive
// on a listener, which it closes with the door.
func (d *Door) Near(to netip.AddrPort) (serve func(net.Listener), ok bool) {
	t := Target{Host: "localhost", Port: to.Port()}
	if d.p.opts.Own.Reaches(to) {
		_ = d.deny(t, whyOwn)
		return nil, false
	}
	if err := d.may(d.ctx, Attempt{Target: t, Kind: netguard.Private}); err != nil {
		return nil, false
	}
	way := route{Target: t, addrs: []netip.Addr{to.Addr()}}
	return func(l net.Listener) { d.p.wg.Go(func() { d.pass(l, way) }) }, true
}

// pass takes connections until the door is closed, and connects each along a route.
func (d *Door) pass(l net.Listener, way route) {
	d.mu.Lock()
	d.listen = append(d.listen, l)
	ended := d.ctx.Err() != nil
	d.mu.Unlock()
	if ended {
		l.Close()
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if !d.p.enter(conn) {
			continue
		}
		d.p.wg.Go(func() {
			defer d.p.leave(conn)
			if to, err := d.connect(d.ctx, way); err == nil {
				join(conn, to)
			}
		})
	}
}
