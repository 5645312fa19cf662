//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Limits on what is noted about one process and everything it starts.
const (
	maxListened = 256
	maxLost     = 16
)

// connections handles the sockets of a process in a network of its own: servers of the
// machine are lent to it if it may reach them, and its own are published. The filter
// reports what it listens on and connects to, as it reports refusals.
type connections struct {
	box    *Box
	spaces *spaces
	near   Near // nil: nothing of the machine is lent

	mu       sync.Mutex
	listened []netip.AddrPort
	missed   []netip.AddrPort
	ports    *ports // nil: nothing is published
	closed   bool
}

// close ends what was published.
func (c *connections) close() {
	c.mu.Lock()
	c.closed = true
	open := c.ports
	c.mu.Unlock()
	if open != nil {
		open.close()
	}
}

// listens notes that a socket is about to listen.
func (c *connections) listens(req *notif) {
	at, ok := boundTo(int(req.pid), int(req.args[0]))
	if !ok {
		return
	}
	c.mu.Lock()
	if !slices.Contains(c.listened, at) {
		if len(c.listened) >= maxListened { // test programs listen often and briefly
			c.listened = c.listened[1:]
		}
		c.listened = append(c.listened, at)
	}
	open := c.ports
	c.mu.Unlock()
	if open != nil {
		open.open(at)
	}
}

func (c *connections) publish() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ports != nil || c.closed {
		return
	}
	c.ports = newPorts(c.spaces.fds[0], c.spaces.fds[1])
	serving := serving(c.spaces.proc("net/"))
	for _, at := range c.listened {
		if serving.at(at) {
			c.ports.open(at)
		}
	}
}

func (c *connections) published() []Port {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	open := c.ports
	c.mu.Unlock()
	if open == nil {
		return nil
	}
	return open.list()
}

func (c *connections) lost() []netip.AddrPort {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.missed)
}

// connects looks at a connection that is about to be made. It returns nil if the call may
// continue at once, else a function that waits for the answer.
func (c *connections) connects(req *notif) func() unix.Errno {
	to, ok := readAddress(int(req.pid), uintptr(req.args[1]), int(req.args[2]))
	switch {
	case !ok || to.Port() == 0:
		return nil
	case !to.Addr().IsLoopback():
		c.mu.Lock()
		if len(c.missed) < maxLost && !slices.Contains(c.missed, to) {
			c.missed = append(c.missed, to)
		}
		c.mu.Unlock()
		return nil
	}
	lent := c.box.isLent(to)
	if !lent && (serving(c.spaces.proc("net/")).at(to) || !serving("/proc/self/net/").at(to)) {
		return nil
	}
	if c.near == nil && !lent {
		return nil // nobody could allow it, and the kernel will refuse it
	}
	return func() unix.Errno { return c.lend(to) }
}

// lend asks whether a server of the machine may be reached, and makes it reachable.
func (c *connections) lend(to netip.AddrPort) unix.Errno {
	if c.near == nil {
		return unix.ECONNREFUSED
	}
	serve, ok := c.near(to)
	if !ok {
		return unix.ECONNREFUSED
	}
	if l := c.box.lend(to); l != nil {
		serve(l)
	}
	return 0
}

func (b *Box) isLent(to netip.AddrPort) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lent[to]
}

// lend returns a listener at an address of the box's network; nil if there already is one.
func (b *Box) lend(to netip.AddrPort) net.Listener {
	s, err := b.enter()
	if err != nil {
		return nil
	}
	b.mu.Lock()
	known := b.lent[to]
	if b.lent == nil {
		b.lent = map[netip.AddrPort]bool{}
	}
	b.lent[to] = true
	b.mu.Unlock()
	if known {
		b.leave()
		return nil
	}
	back := sync.OnceFunc(func() {
		b.mu.Lock()
		delete(b.lent, to)
		b.mu.Unlock()
		b.leave()
	})
	l, err := s.listen(to)
	if err != nil {
		back()
		return nil
	}
	return &inner{Listener: l, leave: back}
}

// listen makes a listener in the namespaces' network. Sockets stay in the network that
// they were made in, so a helper that shares lathe's descriptors opens it.
func (s *spaces) listen(at netip.AddrPort) (net.Listener, error) {
	if s.network == HostNetwork {
		return net.Listen("tcp", at.String())
	}
	p, fd := newProgram(), new(uintptr)
	family, address := sockaddr(at)
	s.reach(p, family, unix.SOCK_STREAM, fd)
	if err := p.help(true); err != nil {
		return nil, err
	}
	file := os.NewFile(*fd, "sandbox")
	defer file.Close()
	_ = unix.SetsockoptInt(int(*fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if err := unix.Bind(int(*fd), address); err != nil {
		return nil, err
	}
	if err := unix.Listen(int(*fd), 128); err != nil {
		return nil, err
	}
	return net.FileListener(file)
}

func sockaddr(at netip.AddrPort) (family uintptr, address unix.Sockaddr) {
	if at.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
}

// readAddress reads the address of a call of connect(2). No address at all means loopback.
func readAddress(pid int, at uintptr, size int) (to netip.AddrPort, ok bool) {
	var raw [28]byte // struct sockaddr_in6
	size = min(size, len(raw))
	if size < 8 {
		return to, false
	}
	local := []unix.Iovec{{Base: &raw[0]}}
	local[0].SetLen(size)
	if n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: at, Len: size}}, 0); err != nil || n < size {
		return to, false
	}
	port := binary.BigEndian.Uint16(raw[2:])
	var ip netip.Addr
	switch family := binary.NativeEndian.Uint16(raw[:]); {
	case family == unix.AF_INET:
		ip = netip.AddrFrom4([4]byte(raw[4:]))
	case family == unix.AF_INET6 && size >= 24:
		ip = netip.AddrFrom16([16]byte(raw[8:])).Unmap()
	default:
		return to, false
	}
	return netip.AddrPortFrom(onLoopback(ip), port), true
}

// onLoopback replaces the unspecified address, which connects to loopback.
func onLoopback(ip netip.Addr) netip.Addr {
	switch {
	case !ip.IsUnspecified():
		return ip
	case ip.Is4():
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.IPv6Loopback()
}

// boundTo returns the address that a TCP socket of a process is bound to.
func boundTo(pid, fd int) (at netip.AddrPort, ok bool) {
	process, err := unix.PidfdOpen(leaderOf(pid), 0)
	if err != nil {
		return at, false
	}
	defer unix.Close(process)
	copied, err := unix.PidfdGetfd(process, fd, 0)
	if err != nil {
		return at, false
	}
	defer unix.Close(copied)
	if kind, err := unix.GetsockoptInt(copied, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || kind != unix.SOCK_STREAM {
		return at, false
	}
	name, err := unix.Getsockname(copied)
	if err != nil {
		return at, false
	}
	switch a := name.(type) {
	case *unix.SockaddrInet4:
		at = netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		at = netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return at, at.Port() != 0
}

// leaderOf returns the process that a thread belongs to.
func leaderOf(thread int) int {
	raw, _ := os.ReadFile("/proc/" + strconv.Itoa(thread) + "/status")
	_, rest, _ := strings.Cut(string(raw), "\nTgid:")
	line, _, _ := strings.Cut(rest, "\n")
	if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
		return pid
	}
	return thread
}

// servers are the addresses at which something listens.
type servers []netip.AddrPort

// serving reads the tables of proc_pid_net(5), which begin with what listens.
func serving(dir string) (list servers) {
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(dir + name)
		if err != nil {
			continue
		}
		raw := make([]byte, 64<<10)
		n, _ := io.ReadFull(f, raw)
		_ = f.Close()
		list = append(list, listening(string(raw[:n]))...)
	}
	return list
}

func listening(table string) (list servers) {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 4 || f[3] != "0A" {
			continue
		}
		if at, ok := hexAddress(f[1]); ok {
			list = append(list, at)
		}
	}
	return list
}

// hexAddress reads an address of those tables: words of four bytes in the machine's order.
func hexAddress(text string) (at netip.AddrPort, ok bool) {
	ip, port, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil || len(ip) != 8 && len(ip) != 32 {
		return at, false
	}
	raw := make([]byte, 0, 16)
	for ; ip != ""; ip = ip[8:] {
		word, err := strconv.ParseUint(ip[:8], 16, 32)
		if err != nil {
			return at, false
		}
		raw = binary.NativeEndian.AppendUint32(raw, uint32(word))
	}
	addr, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), true
}

// at reports whether one of them takes a connection to an address.
func (s servers) at(to netip.AddrPort) bool {
	return slices.ContainsFunc(s, func(at netip.AddrPort) bool {
		ip := at.Addr()
		return at.Port() == to.Port() && (ip == to.Addr() || ip.IsUnspecified() && (ip.Is6() || to.Addr().Is4()))
	})
}
