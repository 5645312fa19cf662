package postgres

import (
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// deafAfter returns what has a connection end when what was sent is not acknowledged for d.
func deafAfter(d time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(network, _ string, c syscall.RawConn) (err error) {
		if !strings.HasPrefix(network, "tcp") {
			return nil
		}
		done := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
		})
		if done != nil {
			return done
		}
		return err
	}
}
