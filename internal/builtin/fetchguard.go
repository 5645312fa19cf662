package builtin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
	"time"

	"lathe/internal/netguard"
	"lathe/internal/tool"
)

// visit is one fetch with its redirects: which hosts were asked for, and how much
// time is left. Waiting for the person does not count.
type visit struct {
	*fetcher
	call   *tool.Call
	format string
	left   time.Duration

	host    string // the last host asked for
	permit  *permit
	public  bool // a host on the open internet was visited
	crossed bool // and that was before this one
}

// mostLeads bounds how often one host may turn out to resolve somewhere else.
const mostLeads = 4

// to fetches from one address, once that is permitted. A redirect within a host
// needs no new permission. Whether a name leads to a private address is only known
// when the connection is made: then the person is asked about that too, and it is
// tried again.
func (v *visit) to(ctx context.Context, u *url.URL) (page, error) {
	if u.Host != v.host {
		if err := v.enter(ctx, u); err != nil {
			return page{}, err
		}
	}
	for {
		begin := v.now()
		p, err := v.get(context.WithValue(ctx, permitKey{}, v.permit), u, v.format, v.left)
		v.left -= v.now().Sub(begin)
		l, leads := errors.AsType[*leads](err)
		if !leads || l.kind != netguard.Private || len(v.permit.addrs) == mostLeads {
			return p, err
		}
		if err := v.askFor(ctx, u, l); err != nil {
			return p, err
		}
		v.permit.addrs = append(v.permit.addrs, l.addr)
	}
}

// enter asks for a host.
func (v *visit) enter(ctx context.Context, u *url.URL) error {
	kind, tells := netguard.KindOfHost(u.Hostname())
	req := fetchRequest(u)
	v.crossed = v.public
	switch {
	case kind == netguard.Internal:
		protect(&req, "", u.Hostname()+" is an address of the local link or of a cloud's metadata service")
	case kind == netguard.Private && v.crossed:
		protect(&req, "", "a page of the internet leads to "+u.Hostname()+", which is on this machine or in a private network")
	case kind == netguard.Private:
		protect(&req, origin(u)+"/", u.Hostname()+" is on this machine or in a private network")
	}
	if tells && v.refuses(u, kind) {
		return errOwnServer
	}
	if err := ask(ctx, v.call, req); err != nil {
		return err
	}
	v.host, v.permit = u.Host, &permit{kind: kind}
	v.public = v.public || kind == netguard.Public
	return nil
}

// askFor asks about a name that leads to a private address. Rules that name the
// host count, but it cannot be allowed permanently: whoever owns the name decides
// where it leads.
func (v *visit) askFor(ctx context.Context, u *url.URL, l *leads) error {
	req, name := fetchRequest(u), origin(u)+"/"
	if v.crossed {
		name = ""
	}
	protect(&req, name, fmt.Sprintf("%s leads to %s, which is on this machine or in a private network", u.Hostname(), l.addr))
	req.Always = nil
	return ask(ctx, v.call, req)
}

// fetchRequest asks for one page, and offers to allow its host.
func fetchRequest(u *url.URL) tool.Request {
	req := tool.Request{
		Permission: "webfetch", Patterns: []string{u.String()}, Always: []string{origin(u) + "/*"},
		Metadata: map[string]any{"url": u.String()},
	}
	if u.Path == "" {
		req.Always = append(req.Always, u.String())
	}
	return req
}

// origin is what comes before the path: it holds no wildcards, see fetchable.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// protect makes a request one that the person must be asked about, or must have
// allowed under the name; with an empty name it cannot be allowed permanently.
func protect(req *tool.Request, name, reason string) {
	req.Metadata[tool.MetaProtected] = true
	req.Metadata["reason"] = reason
	if name == "" {
		req.Always = nil
		return
	}
	req.Metadata[tool.MetaNamed] = name
}

// errOwnServer is returned if a fetch would end up at lathe itself.
const errOwnServer = failure("It is not fetched: lathe's own server listens there, and what a model fetches must not reach it.")

// refuses reports whether a host that names this machine is where lathe listens.
func (f *fetcher) refuses(u *url.URL, kind netguard.Kind) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		if kind != netguard.Private {
			return false
		}
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return f.own.Reaches(netip.AddrPortFrom(ip, portOf(u)))
}

func portOf(u *url.URL) uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

// permit is where a fetch may connect.
type permit struct {
	kind    netguard.Kind // what the person was told, judged by the URL itself
	addrs   []netip.Addr  // and these too
	proxied bool          // this is a connection to the person's proxy
}

type permitKey struct{}

// permitOf returns the permit of a fetch; without one only the open internet is allowed.
func permitOf(ctx context.Context) *permit {
	if p, ok := ctx.Value(permitKey{}).(*permit); ok {
		return p
	}
	return &permit{}
}

// check says why an address may not be connected to.
func (p *permit) check(own *netguard.Listeners, at netip.AddrPort) error {
	if own.Reaches(at) {
		return errOwnServer
	}
	kind := netguard.KindOf(at.Addr())
	if kind <= p.kind || slices.Contains(p.addrs, at.Addr().Unmap()) {
		return nil
	}
	return &leads{addr: at.Addr().Unmap(), kind: kind}
}

// leads is the error for a name that leads to an address that nobody was asked about.
type leads struct {
	addr netip.Addr
	kind netguard.Kind
}

// Error says where it leads.
func (l *leads) Error() string { return "it leads to " + l.where() }

func (l *leads) where() string {
	if l.kind == netguard.Private {
		return fmt.Sprintf("%s, an address of this machine or of a private network", l.addr)
	}
	return fmt.Sprintf("%s, an address of the local link or of a cloud's metadata service. "+
		"If that is meant, use the address itself in the URL, so that the user can allow it", l.addr)
}

// fetchTransport is the client's own transport, guarded if it makes connections.
func (e webTools) fetchTransport() http.RoundTripper {
	if e.http != nil && e.http.Transport != nil {
		if t, ok := e.http.Transport.(*http.Transport); ok {
			return guarded(t, e.own)
		}
		return e.http.Transport
	}
	return guarded(http.DefaultTransport.(*http.Transport), e.own)
}

// guarded checks the address of every connection when it is made, so that a
// name cannot stand for one address when judged and another one later.
func guarded(t *http.Transport, own *netguard.Listeners) *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	dialer.ControlContext = func(ctx context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		p := permitOf(ctx)
		if p.proxied { // what is behind the proxy has already been judged
			return nil
		}
		return p.check(own, at)
	}
	t = t.Clone()
	t.DialContext, t.DialTLSContext = dialer.DialContext, nil
	t.DisableKeepAlives = true // nothing stays behind a call
	return t
}

// behindProxy reports whether a request goes to a proxy, which connects in our place.
func behindProxy(rt http.RoundTripper, req *http.Request) bool {
	t, ok := rt.(*http.Transport)
	if !ok || t.Proxy == nil {
		return false
	}
	proxy, err := t.Proxy(req)
	return err == nil && proxy != nil
}

// lookupTime bounds how long lathe itself looks up a name that a proxy will look up.
const lookupTime = 5 * time.Second

// judge checks where a name leads that a proxy will connect to. A name that only
// the proxy knows is judged by itself.
func (f *fetcher) judge(ctx context.Context, u *url.URL, p *permit) error {
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		return p.check(f.own, netip.AddrPortFrom(ip, portOf(u)))
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	addrs, err := f.lookup(ctx, "ip", host)
	if err != nil {
		return nil
	}
	for _, ip := range addrs {
		if err := p.check(f.own, netip.AddrPortFrom(ip, portOf(u))); err != nil {
			return err
		}
	}
	return nil
}
