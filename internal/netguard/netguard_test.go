package netguard

import (
	"net"
	"net/netip"
	"testing"
)

func TestKindOf(t *testing.T) {
	for ip, want := range map[string]Kind{
		"169.254.169.254": Internal, "::ffff:169.254.169.254": Internal, "64:ff9b::a9fe:a9fe": Internal, "2002:a9fe:a9fe::": Internal,
		"fe80::1": Internal, "fe80::1%eth0": Internal, "0.0.0.0": Internal, "0.1.2.3": Internal, "::": Internal, "fd00:ec2::254": Internal,
		"100.100.100.200": Internal, "224.0.0.1": Internal, "255.255.255.255": Internal, "168.63.129.16": Internal, "ff02::1": Internal,
		"127.0.0.1": Private, "127.8.9.1": Private, "::1": Private, "::127.0.0.1": Private, "10.0.0.1": Private, "172.16.0.1": Private,
		"192.168.1.1": Private, "100.64.0.1": Private, "fd12::1": Private, "::ffff:10.0.0.1": Private, "64:ff9b::7f00:1": Private,
		"2002:0a00:0001::1": Private,
		"93.184.216.34":     Public, "172.32.0.1": Public, "2606:2800::1": Public, "64:ff9b::5db8:d822": Public, "100.128.0.1": Public,
	} {
		if got := KindOf(netip.MustParseAddr(ip)); got != want {
			t.Errorf("%s is %d, want %d", ip, got, want)
		}
	}
}

func TestKindOfHost(t *testing.T) {
	type verdict struct {
		kind  Kind
		tells bool
	}
	for host, want := range map[string]verdict{
		"localhost": {Private, true}, "LocalHost.": {Private, true}, "a.localhost": {Private, true}, "::1": {Private, true},
		"127.1": {Internal, true}, "0x7f000001": {Internal, true}, "2130706433": {Internal, true}, "1.0x1": {Internal, true},
		"metadata.google.internal": {Internal, true}, "example.com": {}, "127.0.0.1.example.com": {}, "localhost.example.com": {},
		"93.184.216.34": {Public, true}, "x1": {}, "example.1a": {},
	} {
		kind, tells := KindOfHost(host)
		if got := (verdict{kind, tells}); got != want {
			t.Errorf("%s: %+v, want %+v", host, got, want)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "localhost.": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "[::1]": true, "::ffff:127.0.0.1": true,
		"": false, "127.0.0.1.evil.com": false, "127.evil.com": false, "localhost.evil.com": false, "a.localhost": false, "0.0.0.0": false,
		"10.0.0.1": false, "::": false, "127.1": false,
	} {
		if got := Loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

func TestListeners(t *testing.T) {
	at := func(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }
	var l Listeners
	if (*Listeners)(nil).Reaches(at("127.0.0.1:80")) || l.Reaches(at("127.0.0.1:80")) {
		t.Error("nobody listens yet")
	}
	remove := l.Add(&net.TCPAddr{IP: net.IPv4zero, Port: 4096})
	again := l.Add(&net.TCPAddr{IP: net.IPv6loopback, Port: 4096})
	l.Add(&net.UnixAddr{Name: "/s"})()
	l.Others = func() []string { return []string{"http://127.0.0.1:5000", "nonsense"} }
	for address, want := range map[string]bool{
		"127.0.0.1:4096": true, "127.3.2.1:4096": true, "[::1]:4096": true, "0.0.0.0:4096": true, "[::ffff:127.0.0.1]:4096": true,
		"127.0.0.1:5000": true, "127.0.0.1:4097": false, "93.184.216.34:4096": false, "93.184.216.34:5000": false,
	} {
		if got := l.Reaches(at(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		ip, ok := netip.AddrFromSlice(a.(*net.IPNet).IP)
		if ok && !l.Reaches(netip.AddrPortFrom(ip, 4096)) {
			t.Errorf("%s is of this machine", ip)
		}
	}
	remove()
	remove()
	if !l.Reaches(at("127.0.0.1:4096")) {
		t.Error("another listener has the port still")
	}
	again()
	if l.Reaches(at("127.0.0.1:4096")) {
		t.Error("nobody listens any more")
	}
}
