package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/session"
	"lathe/internal/shell"
)

// What a command sends to the server that runs it is refused, however it is sent,
// and a person's requests are not, even while commands run.
func TestCommandsMayNotCall(t *testing.T) {
	runner := shell.New(shell.Options{})
	r := newRig(t, func(o *Options) { o.Commands = runner })
	sess := r.own(t)
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
		"no marks":             {script: "(ulimit -R unlimited 2>/dev/null || ulimit -SR $(ulimit -HR); exec env -i /bin/bash -c " + quote("(setsid /bin/bash -c "+quote(ask+" > out")+" &)") + "); while ! grep -q HTTP out 2>/dev/null; do sleep 0.01; done; cat out"},
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
	if _, err := r.svc.Get(t.Context(), lathe.SessionID(strings.TrimPrefix(sess, "/session/"))); err != nil {
		t.Errorf("the session is gone: %v", err)
	}
}

// own makes a session without asking the server, which takes this process's requests
// for those of a tool.
func (r *rig) own(t *testing.T) string {
	t.Helper()
	sess, err := r.svc.Create(t.Context(), session.Create{Directory: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	return "/session/" + string(sess.ID)
}

// A holder that moves on in the process tree, each parent ending behind it, is
// found all the same.
func TestMovingCommandsMayNotCall(t *testing.T) {
	runner := shell.New(shell.Options{})
	r := newRig(t, func(o *Options) { o.Commands = runner })
	sess := r.own(t)
	addr := strings.TrimPrefix(r.url, "http://")
	host, port, _ := net.SplitHostPort(addr)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 forks fast enough for this test; it is not installed")
	}
	script := fmt.Sprintf(`%s -c '
import os, socket, sys, time
s = socket.create_connection(("%s", %s))
for i in range(1000):
    if os.fork(): os._exit(0)
    if i == 5: s.send(b"DELETE %s HTTP/1.1\r\nHost: %s\r\n\r\n")
open("out", "wb").write(s.recv(100))
'; while ! [ -s out ]; do sleep 0.01; done; cat out`, python, host, port, sess, addr)
	for range 4 {
		var out strings.Builder
		_, err := runner.Run(t.Context(), shell.Command{
			Script: script, Dir: t.TempDir(), Env: os.Environ(), Shell: "/bin/bash", Timeout: time.Minute,
			Output: func(b []byte) { out.Write(b) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "403") {
			t.Fatalf("got %q", out.String())
		}
	}
}

// People's requests pass while commands run, from processes that lathe started
// for something else too. This process itself is no person: its tools fetch.
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
	if res := r.do("GET", "/session", ""); res.status != http.StatusForbidden {
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
