//go:build unix

package server

import (
	"bufio"
	"net"
	"strings"
	"syscall"
	"testing"
)

// A client that leaves as soon as it has the answer has seen the whole turn:
// what a stream carries until then is in the client's socket already.
func TestEventsBeforeTheAnswer(t *testing.T) {
	r := newRig(t)
	model := r.script("turn.txt", "times 100\ntext Done.\n")
	addr := strings.TrimPrefix(r.url, "http://")
	for i := range 20 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("GET /event HTTP/1.1\r\nHost: " + addr + "\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(conn)
		for line := ""; !strings.Contains(line, "server.connected"); {
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		r.ok("POST", r.session()+"/message", promptBody(model, "go"))
		seen := string(arrived(t, conn.(*net.TCPConn)))
		if !strings.Contains(seen, `"session.idle"`) {
			t.Fatalf("round %d: the answer came before the end of the turn:\n%s", i, seen)
		}
		conn.Close()
	}
}

// arrived reads what the socket holds, without waiting for more.
func arrived(t *testing.T, conn *net.TCPConn) (got []byte) {
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<20)
	if err := raw.Read(func(fd uintptr) bool {
		for {
			n, err := syscall.Read(int(fd), buf)
			if n <= 0 || err != nil {
				return true
			}
			got = append(got, buf[:n]...)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return got
}
