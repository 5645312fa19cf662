package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lathe/internal/shell"
)

// What a command sends to the server that runs it is refused, however it is sent,
// and a person's requests are not, even while commands run.
func TestCommandsMayNotCall(t *testing.T) {
	runner := shell.New(shell.Options{})
	r := newRig(t, func(o *Options) { o.Commands = runner })
	sess := r.session()
	addr := strings.TrimPrefix(r.url, "http://")
	host, port, _ := net.SplitHostPort(addr)
	ask := fmt.Sprintf(`exec 3<>/dev/tcp/%s/%s; printf 'GET /session HTTP/1.1\r\nHost: %s\r\n\r\n' >&3; head -n1 <&3`, host, port, addr)
	remove := fmt.Sprintf(`exec 3<>/dev/tcp/%s/%s; printf 'DELETE %s HTTP/1.1\r\nHost: %s\r\n\r\n' >&3`, host, port, sess, addr)
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	for name, tt := range map[string]struct {
		script string
		silent bool // does not wait for an answer
	}{
		"plain":                {script: ask},
		"child":                {script: "bash -c " + quote(ask) + "; true"},
		"own session":          {script: "setsid -w bash -c " + quote(ask)},
		"cleared environment":  {script: "env -i /bin/bash -c " + quote(ask)},
		"orphan":               {script: "(bash -c " + quote(ask) + " > out &) ; while ! grep -q HTTP out 2>/dev/null; do sleep 0.01; done; cat out"},
		"fire and forget":      {script: remove, silent: true},
		"fire and forget, bg":  {script: "(bash -c " + quote(remove) + " &)", silent: true},
		"socket of the parent": {script: strings.Replace(ask, "head", "bash -c 'head -n1 <&3'; : head", 1)},
	} {
		var out strings.Builder
		exit, err := runner.Run(t.Context(), shell.Command{
			Script: tt.script, Dir: t.TempDir(), Env: os.Environ(), Shell: "/bin/bash", Output: func(b []byte) { out.Write(b) },
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !tt.silent && !strings.Contains(out.String(), "403") {
			t.Errorf("%s: exit %d, got %q", name, exit.Code, out.String())
		}
	}
	if res := r.do("GET", sess, ""); res.status != http.StatusOK {
		t.Errorf("the session is gone: %d %s", res.status, res.body)
	}
}

// People's requests pass while commands run, from processes that lathe started
// for something else too.
func TestOthersMayCall(t *testing.T) {
	runner := shell.New(shell.Options{})
	r := newRig(t, func(o *Options) { o.Commands = runner })
	ctx, cancel := context.WithCancel(t.Context())
	done, begun := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_, err := runner.Run(ctx, shell.Command{
			Script: "echo; sleep 60", Dir: t.TempDir(), Env: os.Environ(), Output: func([]byte) { close(begun) },
		})
		if err != nil {
			t.Error(err)
		}
	}()
	<-begun
	r.http.CloseIdleConnections()
	if res := r.do("GET", "/session", ""); res.status != http.StatusOK {
		t.Errorf("own process: %d %s", res.status, res.body)
	}
	addr := strings.TrimPrefix(r.url, "http://")
	host, port, _ := net.SplitHostPort(addr)
	out, err := exec.Command("bash", "-c", fmt.Sprintf(
		`exec 3<>/dev/tcp/%s/%s; printf 'GET /session HTTP/1.1\r\nHost: %s\r\n\r\n' >&3; head -n1 <&3`, host, port, addr)).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "200") {
		t.Errorf("another program: %v, %q", err, out)
	}
	cancel()
	<-done
}

// A unix socket tells who is there by itself.
func TestCommandsMayNotCallTheSocket(t *testing.T) {
	runner := shell.New(shell.Options{})
	l, err := ListenSocket(t.Context(), filepath.Join(t.TempDir(), "s"))
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
	if v := <-verdicts; v.why != "" {
		t.Errorf("own connection: %s", v.why)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 opens the socket in this test; it is not installed")
	}
	script := fmt.Sprintf("%s -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)' %s", python, l.Addr())
	if _, err := runner.Run(t.Context(), shell.Command{Script: script, Dir: t.TempDir(), Env: os.Environ()}); err != nil {
		t.Fatal(err)
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
		ts.Listener, ts.Config.ConnContext = l, withCaller
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

// Another user of the machine needs a password.
func TestAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip("setpriv is not installed")
	}
	for _, tt := range []struct{ password, header, want string }{
		{"", "", "403"},
		{"s", "Authorization: Basic b3BlbmNvZGU6cw==\\r\\n", "200"},
	} {
		r := newRig(t, func(o *Options) { o.Password = tt.password })
		addr := strings.TrimPrefix(r.url, "http://")
		host, port, _ := net.SplitHostPort(addr)
		cmd := exec.Command("setpriv", "--reuid=65534", "--clear-groups", "/bin/bash", "-c", fmt.Sprintf(
			`exec 3<>/dev/tcp/%s/%s; printf 'GET /session HTTP/1.1\r\nHost: %s\r\n%s\r\n' >&3; head -n1 <&3`, host, port, addr, tt.header))
		cmd.Dir = "/"
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("password %q: %v, %q", tt.password, err, out)
		}
	}
}
