package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"lathe/internal/netguard"
)

// Target is a host and a port that a command wants to reach. The host is a name in
// lower case and ASCII without a final dot, or an address as [netip.Addr] spells it.
type Target struct {
	Host string
	Port uint16
}

// String is the target as it stands in a CONNECT request.
func (t Target) String() string { return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) }

// Label names the target for people and rules: without the port where that is one of
// the web's.
func (t Target) Label() string {
	if t.Port == 80 || t.Port == 443 {
		return t.Host
	}
	return t.String()
}

// Addr returns the address that the host is, if it is one.
func (t Target) Addr() (netip.Addr, bool) {
	ip, err := netip.ParseAddr(t.Host)
	return ip, err == nil
}

var errTarget = errors.New("no host and port that can be reached")

// ParseTarget reads "host:port"; without a port it takes fallback, unless that is 0.
func ParseTarget(text string, fallback uint16) (Target, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil && fallback != 0 {
		host, port, err = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), strconv.Itoa(int(fallback)), nil
	}
	if err != nil {
		return Target{}, fmt.Errorf("%.100q: %w", text, errTarget)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return Target{}, fmt.Errorf("%.100q: %w", text, errTarget)
	}
	return NewTarget(host, uint16(n))
}

// NewTarget returns the target in its one spelling. Numbers that only some resolvers
// take for an address, such as 0x7f.1, are refused.
func NewTarget(host string, port uint16) (Target, error) {
	bad := fmt.Errorf("%.100q: %w", host, errTarget)
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Zone() != "" || port == 0 {
			return Target{}, bad
		}
		return Target{ip.Unmap().String(), port}, nil
	}
	if len(host) > 1000 {
		return Target{}, bad
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return Target{}, bad
		}
		host = ascii
	}
	if !hostname(host) || port == 0 {
		return Target{}, bad
	}
	if kind, tells := netguard.KindOfHost(host); tells && kind == netguard.Internal && host[len(host)-1] <= '9' {
		return Target{}, fmt.Errorf("%.100q: write the address as four numbers: %w", host, errTarget)
	}
	return Target{host, port}, nil
}

// hostname reports whether a text is made like a name that resolvers know.
func hostname(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}
