package gate

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ParseProxy reads the address or the network of a proxy.
func ParseProxy(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// forwardedFor is the header to which proxies add whom they pass on.
const forwardedFor = "X-Forwarded-For"

// Passed returns a request with the address of the client as its RemoteAddr, which limits and the
// audit go by, if it comes from a proxy that is believed. The last address that is no such proxy's
// counts: whatever stands before it the client may have made up.
func (g *Gate) Passed(r *http.Request) *http.Request {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !g.isProxy(from.Addr()) {
		return r
	}
	client := from.Addr()
	for _, text := range slices.Backward(strings.Split(strings.Join(r.Header.Values(forwardedFor), ","), ",")) {
		addr, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break
		}
		if client = addr; !g.isProxy(client) {
			break
		}
	}
	if client == from.Addr() {
		return r
	}
	out := *r
	out.RemoteAddr = netip.AddrPortFrom(client.Unmap(), 0).String()
	return &out
}

func (g *Gate) isProxy(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(g.proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}
