//go:build unix

package server

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"lathe"
	"lathe/internal/bus"
)

// A client that leaves as soon as it has the answer has seen the whole turn:
// what a stream carries until then is in the client's socket already.
func TestEventsBeforeTheAnswer(t *testing.T) {
	r := newRig(t)
	model := r.script("turn.txt", "times 100\ntext Done.\n")
	r.hearsTheEnd(promptBody(model, "go"))
}

// aTurn is another server that answers a prompt when the end of its turn is published here.
type aTurn struct {
	away
	bus *bus.Bus
	dir string
}

func (a aTurn) Serve(w http.ResponseWriter, r *http.Request, _ func(string) error, told func(string)) (bool, error) {
	if !strings.HasSuffix(r.URL.Path, "/message") {
		return false, nil
	}
	a.bus.Publish(a.dir, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	told(a.dir)
	w.WriteHeader(http.StatusOK)
	return true, nil
}

// A client has seen the whole turn where another server ran it, too.
func TestEventsBeforeTheAnswerOfAnother(t *testing.T) {
	other := &aTurn{}
	r := newRig(t, func(o *Options) {
		other.bus, other.dir = o.Bus, o.Dir
		o.Elsewhere = other
	})
	r.hearsTheEnd(`{"parts":[{"type":"text","text":"go"}]}`)
}

// hearsTheEnd checks that the end of a turn is with who follows the events when its prompt is
// answered.
func (r *rig) hearsTheEnd(prompt string) {
	t, addr := r.t, strings.TrimPrefix(r.url, "http://")
	t.Helper()
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
		r.ok("POST", r.session()+"/message", prompt)
		seen := string(arrived(t, conn.(*net.TCPConn)))
		if !strings.Contains(seen, `"session.idle"`) {
			t.Fatalf("round %d: the answer came before the end of the turn:\n%s", i, seen)
		}
		conn.Close()
	}
}

// arrived reads what the socket holds, without waiting for more.
func arrived(t testing.TB, conn *net.TCPConn) (got []byte) {
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
