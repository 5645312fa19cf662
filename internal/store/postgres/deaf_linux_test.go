package postgres_test

import (
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lathe/internal/store/postgres"
)

// A connection over the network is given up within seconds if its other side is gone without a word.
func TestDeafConnectionEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	conn, err := postgres.Dialer().Dial("tcp", l.Addr().String())
	must(t, err)
	defer conn.Close()
	raw, err := conn.(syscall.Conn).SyscallConn()
	must(t, err)
	got := map[string]int{}
	must(t, raw.Control(func(fd uintptr) {
		for name, option := range map[string]int{"unacknowledged": unix.TCP_USER_TIMEOUT, "first": unix.TCP_KEEPIDLE, "next": unix.TCP_KEEPINTVL, "count": unix.TCP_KEEPCNT} {
			if got[name], err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option); err != nil {
				t.Error(err)
			}
		}
	}))
	if got["unacknowledged"] != 20_000 || got["first"]+got["next"]*got["count"] > 20 {
		t.Errorf("it is given up after %v", got)
	}
}
