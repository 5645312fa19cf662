package proxy

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	netproxy "golang.org/x/net/proxy"

	"lathe/internal/netguard"
)

// route is how a target that was allowed is reached: at one of the judged addresses,
// or through the person's own proxy.
type route struct {
	Target
	addrs []netip.Addr
	via   *url.URL
}

const (
	whyOwn      = "lathe's own server listens there, and no command may reach it"
	whyInternal = "the name leads to %s, an address of the local link or of a cloud's metadata service; a rule can allow that only for the address itself"
)

// admit judges a target, first by its name and then by the address it leads to. plain
// is set for a request that the person's own proxy would have to forward itself.
func (d *Door) admit(ctx context.Context, t Target, plain bool) (route, error) {
	r := route{Target: t}
	ip, literal := t.Addr()
	if d.own(t, ip, literal) {
		return r, d.deny(t, whyOwn)
	}
	kind, _ := netguard.KindOfHost(t.Host)
	if err := d.may(ctx, Attempt{Target: t, Kind: kind}); err != nil {
		return r, err
	}
	if r.via = d.p.upstream(t, plain); r.via != nil && kind != netguard.Public {
		r.via = nil // the person's proxy is not for nearby targets
	}
	if literal {
		r.addrs = []netip.Addr{ip}
		return r, nil
	}
	addrs, err := d.p.lookup(ctx, t.Host)
	if err != nil && r.via == nil {
		return r, err
	}
	r.addrs, err = d.near(ctx, t, kind, addrs)
	return r, err
}

// own reports whether the target is known to be lathe itself before it is looked up.
func (d *Door) own(t Target, ip netip.Addr, literal bool) bool {
	if !literal && netguard.Loopback(t.Host) {
		ip, literal = netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	return literal && d.p.opts.Own.Reaches(netip.AddrPortFrom(ip, t.Port))
}

// near judges the addresses that a name leads to. Addresses of the kind that the
// name suggests are allowed already; if there are none, the judge is asked about
// one.
func (d *Door) near(ctx context.Context, t Target, kind netguard.Kind, addrs []netip.Addr) (good []netip.Addr, err error) {
	var private, internal netip.Addr
	for _, ip := range addrs {
		ip = ip.Unmap().WithZone("")
		switch k := netguard.KindOf(ip); {
		case d.p.opts.Own.Reaches(netip.AddrPortFrom(ip, t.Port)):
			return nil, d.deny(t, whyOwn)
		case k <= kind:
			good = append(good, ip)
		case k == netguard.Internal:
			internal = ip
		default:
			private = ip
		}
	}
	switch {
	case len(good) > 0 || len(addrs) == 0:
		return good, nil
	case !private.IsValid():
		return nil, d.deny(t, fmt.Sprintf(whyInternal, internal))
	}
	if err := d.may(ctx, Attempt{Target: t, Kind: netguard.Private, Leads: private}); err != nil {
		return nil, err
	}
	return []netip.Addr{private}, nil
}

func (p *Proxy) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if netguard.Loopback(host) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	addrs, err := p.opts.Lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("%s has no address", host)
	}
	return addrs, nil
}

func (p *Proxy) upstream(t Target, plain bool) *url.URL {
	if p.opts.Upstream == nil {
		return nil
	}
	u := &url.URL{Scheme: "https", Host: t.String()}
	if plain {
		u.Scheme = "http"
	}
	via, err := p.opts.Upstream(u)
	if err != nil {
		return nil
	}
	return via
}

// connect opens a connection along a route. It counts the bytes.
func (d *Door) connect(ctx context.Context, r route) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := d.p.dial(ctx, r)
	if err != nil {
		return nil, err
	}
	return d.enter(conn, r.Target)
}

func (p *Proxy) dial(ctx context.Context, r route) (net.Conn, error) {
	if r.via != nil {
		return through(ctx, r.via, r.Target)
	}
	var errs []error
	for i, ip := range r.addrs {
		one, cancel := context.WithTimeout(ctx, max(2*time.Second, dialTime/time.Duration(len(r.addrs)-i)))
		conn, err := p.opts.Dial(one, netip.AddrPortFrom(ip, r.Port))
		cancel()
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, cmp.Or(errors.Join(errs...), errTarget)
}

// through connects to a target through the person's own proxy.
func through(ctx context.Context, via *url.URL, t Target) (net.Conn, error) {
	var dialer net.Dialer
	if via.Scheme == "socks5" || via.Scheme == "socks5h" {
		socks, err := netproxy.FromURL(via, &dialer)
		if err != nil {
			return nil, err
		}
		return socks.(netproxy.ContextDialer).DialContext(ctx, "tcp", t.String())
	}
	conn, err := dialProxy(ctx, &dialer, via)
	if err != nil {
		return nil, fmt.Errorf("the proxy %s: %w", via.Host, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	tunnel, _, err := open(conn, via, t)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("the proxy %s: %w", via.Host, err)
	}
	return tunnel, nil
}

// connectRequest is the request that asks an HTTP proxy for a tunnel.
func connectRequest(via *url.URL, t Target) *http.Request {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: t.String()}, Host: t.String(), Header: http.Header{}}
	if u := via.User; u != nil {
		password, _ := u.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	return req
}
