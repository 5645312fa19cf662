// Package netguard tells addresses apart: those of the open internet, those of
// this machine and its private networks, those that no page can have, and those
// where lathe itself listens. What fetches on a model's behalf asks it.
package netguard

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// Kind is what sort of network an address belongs to.
type Kind int

const (
	// Public addresses are those of the open internet.
	Public Kind = iota
	// Private addresses are loopback and private networks, where people's own
	// servers run: a page of the internet has no business there.
	Private
	// Internal addresses are of the local link, of a cloud's metadata service, or
	// none that a page can have.
	Internal
)

var (
	private = prefixes(
		"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15",
		"::1/128", "fc00::/7", "fec0::/10",
	)
	internal = prefixes(
		"0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4",
		"100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::254/128",
		"::/128", "fe80::/10", "ff00::/8",
	)
	// embeds are the prefixes of IPv6 addresses that carry an IPv4 address, and the
	// byte it begins at.
	embeds = map[netip.Prefix]int{
		netip.MustParsePrefix("64:ff9b::/96"):    12,
		netip.MustParsePrefix("64:ff9b:1::/48"):  12,
		netip.MustParsePrefix("::ffff:0:0:0/96"): 12,
		netip.MustParsePrefix("::/96"):           12,
		netip.MustParsePrefix("2002::/16"):       2,
	}
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// KindOf returns the kind of an address, or of the IPv4 address that it carries.
func KindOf(ip netip.Addr) Kind {
	ip = plain(ip)
	for _, p := range internal {
		if p.Contains(ip) {
			return Internal
		}
	}
	for _, p := range private {
		if p.Contains(ip) {
			return Private
		}
	}
	return Public
}

// plain is the address without a zone, as IPv4 where it stands for one.
func plain(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if !ip.Is6() || ip == netip.IPv6Loopback() || ip.IsUnspecified() {
		return ip
	}
	raw := ip.As16()
	for p, at := range embeds {
		if p.Contains(ip) {
			return netip.AddrFrom4([4]byte(raw[at : at+4]))
		}
	}
	return ip
}

// KindOfHost returns the kind of a host of a URL as far as the name itself tells,
// and whether it tells at all: it does for addresses, for names of this machine
// and for those of metadata services. A number is an address in any of the
// spellings that systems take.
func KindOfHost(host string) (kind Kind, tells bool) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return KindOf(ip), true
	}
	switch {
	case host == "localhost", strings.HasSuffix(host, ".localhost"):
		return Private, true
	case host == "metadata.google.internal", host == "metadata", oddNumber(host):
		return Internal, true
	}
	return Public, false
}

// oddNumber reports whether a host is an IPv4 address in a spelling other than the
// usual one, such as 0x7f.1 or 2130706433: its last part is a number.
func oddNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if rest, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(rest, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// Loopback reports whether a host, as it stands in a URL or in front of a port,
// names this machine and no other: localhost or a loopback address. Neither
// 127.0.0.1.example.com nor a name below localhost does, which a resolver may be
// asked for.
func Loopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// ThisMachine reports whether an address leads to this machine: loopback, no
// address at all, or one of its interfaces'.
func ThisMachine(ip netip.Addr) bool {
	ip = plain(ip)
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			if own, ok := netip.AddrFromSlice(n.IP); ok && own.Unmap() == ip {
				return true
			}
		}
	}
	return false
}

// Listeners are the TCP addresses at which lathe listens. The zero value has
// none; it is safe for concurrent use.
type Listeners struct {
	mu    sync.Mutex
	ports map[uint16]int
	// Others, when set, returns the addresses (http://host:port) of other servers
	// of the same user. It is asked when somebody wants to connect to this machine.
	Others func() []string
}

// Add notes an address until the function it returns is called. Addresses other
// than TCP count for nothing.
func (l *Listeners) Add(at net.Addr) (remove func()) {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ports == nil {
		l.ports = map[uint16]int{}
	}
	port := tcp.AddrPort().Port()
	l.ports[port]++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ports[port]--
	})
}

// Reaches reports whether a connection to the address would come out at lathe. Any
// address of this machine counts with the port: the ways to spell one are many.
func (l *Listeners) Reaches(at netip.AddrPort) bool {
	if l == nil || !ThisMachine(at.Addr()) {
		return false
	}
	l.mu.Lock()
	own := l.ports[at.Port()] > 0
	l.mu.Unlock()
	if own || l.Others == nil {
		return own
	}
	for _, other := range l.Others() {
		if u, err := url.Parse(other); err == nil && u.Port() == strconv.Itoa(int(at.Port())) {
			return true
		}
	}
	return false
}
