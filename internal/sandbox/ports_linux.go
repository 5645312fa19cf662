//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lathe/internal/order"
)

// ports are a network's servers that are reachable on the machine's loopback. They are
// safe for concurrent use. Close them.
type ports struct {
	user, network int        // namespaces
	files         []*os.File // that they are, if they are its own

	mu     sync.Mutex
	served map[netip.AddrPort]*served
	closed bool
	wg     sync.WaitGroup
	conns  map[net.Conn]struct{}
}

// served is one of these servers.
type served struct {
	listen []net.Listener // on 127.0.0.1 and, if possible, on ::1
	Port
}

// maxPublished limits the ports of one process, and maxPassed the connections to them.
const (
	maxPublished = 64
	maxPassed    = 512
)

func newPorts(user, network int) *ports {
	return &ports{user: user, network: network, served: map[netip.AddrPort]*served{}, conns: map[net.Conn]struct{}{}}
}

// open makes the server at an address reachable from now on.
func (p *ports) open(at netip.AddrPort) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to := netip.AddrPortFrom(onLoopback(at.Addr()), at.Port())
	if p.closed || len(p.served) >= maxPublished || !to.Addr().IsLoopback() {
		return
	}
	for known := range p.served {
		if known.Port() == to.Port() {
			return
		}
	}
	s := &served{Port: Port{Port: int(to.Port())}}
	if s.listen, s.At = listenNear(int(to.Port())); s.At == 0 {
		return
	}
	p.served[to] = s
	for _, l := range s.listen {
		p.wg.Go(func() { p.serve(l, to) })
	}
}

// listenNear listens on the machine's loopback, at the port or, if that is taken, at another.
func listenNear(port int) (list []net.Listener, at int) {
	for _, try := range []int{port, 0} {
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(try)))
		if err != nil {
			continue
		}
		at = l.Addr().(*net.TCPAddr).Port
		list = append(list, l)
		if l, err = net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(at))); err == nil {
			list = append(list, l)
		}
		return list, at
	}
	return nil, 0
}

func (p *ports) list() (list []Port) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.served {
		list = append(list, s.Port)
	}
	order.Stable(list, func(a, b Port) int { return a.Port - b.Port })
	return list
}

func (p *ports) serve(l net.Listener, to netip.AddrPort) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.pass(conn, to) })
	}
}

// pass passes bytes between a program of the machine and a server.
func (p *ports) pass(conn net.Conn, to netip.AddrPort) {
	defer conn.Close()
	if !p.enter(conn) {
		return
	}
	defer p.leave(conn)
	server, err := p.dial(to)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.enter(server) {
		return
	}
	defer p.leave(server)
	var wg sync.WaitGroup
	one := func(dst, src net.Conn) {
		_, err := io.Copy(dst, src)
		if err != nil {
			dst.Close()
		}
		_ = dst.(*net.TCPConn).CloseWrite()
	}
	wg.Go(func() { one(server, conn) })
	one(conn, server)
	wg.Wait()
}

func (p *ports) enter(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.conns) >= maxPassed {
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *ports) leave(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// dialTime is how long a server of a process may take to accept a connection.
const dialTime = 3 * time.Second

// dial connects to a server in the network.
func (p *ports) dial(to netip.AddrPort) (net.Conn, error) {
	helper, fd := newProgram(), new(uintptr)
	family, address := sockaddr(to)
	reach(helper, p.user, p.network, family, unix.SOCK_STREAM, fd)
	if err := helper.help(true); err != nil {
		return nil, err
	}
	file := os.NewFile(*fd, "sandbox")
	defer file.Close()
	limit := unix.NsecToTimeval(int64(dialTime))
	_ = unix.SetsockoptTimeval(int(*fd), unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit)
	if err := unix.Connect(int(*fd), address); err != nil {
		return nil, err
	}
	_ = unix.SetsockoptTimeval(int(*fd), unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{})
	return net.FileConn(file)
}

// close ends all, and waits for that.
func (p *ports) close() {
	p.mu.Lock()
	p.closed = true
	for _, s := range p.served {
		for _, l := range s.listen {
			l.Close()
		}
	}
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
	for _, f := range p.files {
		_ = f.Close()
	}
}

// share returns what another process needs to continue: the namespaces and the listeners,
// and a text that says which is which. Whoever gets the files closes them.
func (p *ports) share() (files []*os.File, words string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fd := range []int{p.user, p.network} {
		copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return files, "", err
		}
		files = append(files, os.NewFile(uintptr(copied), "namespace"))
	}
	var list []string
	for to, s := range p.served {
		for _, l := range s.listen {
			f, err := l.(*net.TCPListener).File()
			if err != nil {
				return files, "", err
			}
			files = append(files, f)
			list = append(list, to.String())
		}
	}
	return files, strings.Join(list, " "), nil
}

// resumePorts continues with what share returned.
func resumePorts(files []*os.File, words string) (*ports, error) {
	list := strings.Fields(words)
	if len(files) != len(list)+2 {
		return nil, fmt.Errorf("%d files for %d ports", len(files), len(list))
	}
	p := newPorts(int(files[0].Fd()), int(files[1].Fd()))
	p.files = files[:2]
	for i, word := range list {
		to, err := netip.ParseAddrPort(word)
		if err != nil {
			return nil, err
		}
		l, err := net.FileListener(files[i+2])
		_ = files[i+2].Close()
		if err != nil {
			return nil, err
		}
		at, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			return nil, errors.New("a listener is not a TCP listener")
		}
		s := p.served[to]
		if s == nil {
			s = &served{Port: Port{Port: int(to.Port()), At: at.Port}}
			p.served[to] = s
		}
		s.listen = append(s.listen, l)
		p.wg.Go(func() { p.serve(l, to) })
	}
	return p, nil
}
