package gate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// DefaultPort is taken where none is named, if it is free.
const DefaultPort = 4096

// Listen opens a TCP address. A negative port means the default one, or any that
// is free. Where others can reach the address a password is needed.
func Listen(ctx context.Context, host string, port int, password bool) (net.Listener, error) {
	if !Loopback(host) && !password {
		return nil, fmt.Errorf("refuse to listen on %s without a password: others could run commands as you", host)
	}
	var lc net.ListenConfig
	if port >= 0 {
		l, err := lc.Listen(ctx, network(host), net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		return Limit(l), nil
	}
	l, err := lc.Listen(ctx, network(host), net.JoinHostPort(host, strconv.Itoa(DefaultPort)))
	if err != nil {
		l, err = lc.Listen(ctx, network(host), net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return Limit(l), nil
}

// network returns the network of an address: 0.0.0.0 does not stand for IPv6 too.
func network(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		return "tcp4"
	}
	return "tcp"
}

// ListenSocket opens a unix socket that only its owner can use. A socket file
// that no server answers at is replaced.
func ListenSocket(ctx context.Context, path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("socket %s: a file that is not a socket is there; name another path", path)
		}
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
		if err == nil {
			return nil, errors.Join(fmt.Errorf("socket %s: a server listens there already", path), c.Close())
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("socket %s: %w", path, err)
		}
	}
	var lc net.ListenConfig
	l, err := listenPrivate(ctx, &lc, path)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	return Limit(&ownerOnly{l}), nil
}

// ownerOnly turns away connections of other users.
type ownerOnly struct{ net.Listener }

// Accept waits for a connection of the same user.
func (l *ownerOnly) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || samePeer(c) {
			return c, err
		}
		_ = c.Close()
	}
}
