package gate

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"lathe/internal/shell"
)

// Only a holder that was seen is a person's; who is not seen is looked for again
// until the socket is closed.
func TestHolderOf(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, tt := range map[string]struct {
		answers []shell.Holder
		closes  bool // before the last answer
		here    bool // this process has it
		want    holder
	}{
		"a command's":                 {answers: []shell.Holder{shell.HeldByCommand}, want: heldByCommand},
		"a person's":                  {answers: []shell.Holder{shell.HeldByOther}, want: heldByPerson},
		"no command runs":             {answers: []shell.Holder{shell.HeldUnasked}, want: heldByPerson},
		"this process has it":         {answers: []shell.Holder{shell.HeldUnasked}, here: true, want: heldByCommand},
		"ended meanwhile":             {answers: []shell.Holder{shell.HeldUnasked}, closes: true, want: heldNoMore},
		"moved, then seen":            {answers: []shell.Holder{shell.HeldUnseen, shell.HeldUnseen, shell.HeldByCommand}, want: heldByCommand},
		"ending, then closed":         {answers: []shell.Holder{shell.HeldHidden, shell.HeldUnseen, shell.HeldUnseen}, closes: true, want: heldNoMore},
		"never seen":                  {answers: []shell.Holder{shell.HeldUnseen}, want: heldByPerson},
		"hidden by a command":         {answers: []shell.Holder{shell.HeldHidden}, want: heldByCommand},
		"hidden, but a person has it": {answers: []shell.Holder{shell.HeldHidden, shell.HeldByOther}, want: heldByPerson},
	} {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		script := &holders{answers: tt.answers}
		if tt.closes {
			script.before = func() { _ = client.Close() }
		}
		uid, got := holderOf(addrPort(conn.RemoteAddr()), addrPort(conn.LocalAddr()), script, func(uint32) bool { return tt.here })
		if got != tt.want || uid != os.Getuid() && got != heldNoMore {
			t.Errorf("%s: %d of user %d", name, got, uid)
		}
		_, _ = client.Close(), conn.Close()
	}
}

// holders answers in turn, the last answer for ever; before runs before the last.
type holders struct {
	answers []shell.Holder
	before  func()
}

func (h *holders) Started(int) bool { return false }

func (h *holders) Holder(uint64) shell.Holder {
	out := h.answers[0]
	if len(h.answers) > 1 {
		h.answers = h.answers[1:]
	} else if h.before != nil {
		h.before()
	}
	return out
}

// A unix socket tells who is there by itself.
func TestCommandsMayNotCallTheSocket(t *testing.T) {
	runner := shell.New(shell.Options{})
	l, err := ListenSocket(t.Context(), filepath.Join(shortDir(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	type verdict struct{ why string }
	verdicts := make(chan verdict, 2)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			verdicts <- verdict{callerFault(c, runner, false)}
			_ = c.Close()
		}
	}()
	if c, err := net.Dial("unix", l.Addr().String()); err != nil {
		t.Error(err)
	} else {
		_ = c.Close()
	}
	if v := <-verdicts; v.why != fromCommand {
		t.Errorf("a connection of this process: %q", v.why)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 opens the socket in this test; it is not installed")
	}
	script := fmt.Sprintf("'%s' -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)' '%s'", python, l.Addr())
	exit, err := runner.Run(t.Context(), shell.Command{Script: script, Dir: t.TempDir(), Env: os.Environ()})
	if err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	if v := <-verdicts; v.why != fromCommand {
		t.Errorf("a command's connection: %q", v.why)
	}
}

// The kernel names the socket at the other end, in both families.
func TestSocketOf(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		var seen atomic.Uint64
		ts := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			c := r.Context().Value(callerKey{}).(*caller)
			inode, uid, err := socketOf(addrPort(c.conn.RemoteAddr()), addrPort(c.conn.LocalAddr()))
			if err != nil || int(uid) != os.Getuid() {
				t.Errorf("%s: uid %d, %v", address, uid, err)
			}
			seen.Store(uint64(inode))
		}))
		ts.Listener, ts.Config.ConnContext = l, WithCaller
		ts.Start()
		res, err := ts.Client().Get(ts.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if seen.Load() == 0 {
			t.Errorf("%s: no inode", address)
		}
		ts.Close()
	}
}

// shortDir makes a directory for a socket, whose path must be short.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
