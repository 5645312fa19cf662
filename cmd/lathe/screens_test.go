package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe"
	"lathe/internal/client"
	"lathe/internal/screentest"
)

// stuck is how long a test waits for what has to come.
const stuck = 2 * time.Minute

func (w *station) attach(name string, args ...string) *screentest.Screen {
	w.t.Helper()
	return w.open(name, append([]string{"attach"}, args...)...)
}

func (w *station) open(name string, args ...string) *screentest.Screen {
	w.t.Helper()
	return screentest.Open(w.t, name, w.lathe(append(args, "-m", "script/turn.txt")...), 30, 100)
}

// station is a repository and a server that works in it.
type station struct {
	t      *testing.T
	dir    string
	env    []string
	server *exec.Cmd
}

func newStation(t *testing.T, files map[string]string) *station {
	top := t.TempDir()
	w := &station{t: t, dir: filepath.Join(top, "repo")}
	for name, text := range files {
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.env = append(hermetic(), asMain+"=1", "HOME="+top, "LATHE_HOME="+filepath.Join(top, "h"), "PATH="+os.Getenv("PATH"), "LATHE_TRUST=1")
	return w
}

func (w *station) lathe(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
}

// serve starts the server and returns where it listens.
func (w *station) serve(port string) string {
	w.t.Helper()
	cmd := w.lathe("serve", "--port", port)
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.server = cmd
	w.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if at, ok := strings.CutPrefix(sc.Text(), "lathe server listening on http://"); ok {
			return at
		}
	}
	w.t.Fatal("the server does not listen")
	return ""
}

// allow answers what waits for permission.
func (w *station) allow(at string) {
	w.t.Helper()
	c, err := client.New(client.Options{URL: "http://" + at, Dir: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	asks, err := c.Asks(w.t.Context())
	if err != nil || len(asks) != 1 {
		w.t.Fatalf("asks: %v, %v", asks, err)
	}
	if err := c.Reply(w.t.Context(), asks[0].ID, lathe.Reply{Kind: lathe.Once}); err != nil {
		w.t.Fatal(err)
	}
}

// kill ends the server as a crash would.
func (w *station) kill() {
	w.t.Helper()
	if err := w.server.Process.Kill(); err != nil {
		w.t.Fatal(err)
	}
	_ = w.server.Wait()
}

// relay passes connections on to a server, and can be cut.
type relay struct {
	l  net.Listener
	to string

	mu    sync.Mutex
	off   bool
	conns []net.Conn
	wg    sync.WaitGroup
}

func newRelay(t *testing.T, to string) *relay {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{l: l, to: to}
	r.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.wg.Go(func() { r.pass(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.cut(true)
		r.wg.Wait()
	})
	return r
}

func (r *relay) pass(c net.Conn) {
	defer c.Close()
	far, err := (&net.Dialer{}).Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer far.Close()
	r.mu.Lock()
	if r.off {
		r.mu.Unlock()
		return
	}
	r.conns = append(r.conns, c, far)
	r.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(far, c)
		_ = far.Close()
	}()
	_, _ = io.Copy(c, far)
	_ = c.Close()
	<-done
}

// cut breaks every connection; while it is off none is made.
func (r *relay) cut(off bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.off = off
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

// Two screens on one server show the same session as it happens, and either can
// answer. A cut network and a killed server lose nothing.
func TestTwoScreens(t *testing.T) {
	w := newStation(t, map[string]string{
		"opencode.json": `{"permission":{"bash":"ask"}}`,
		"turn.txt": `tool bash {"command":"echo 1","description":"x"}
---
text alpha1
---
tool bash {"command":"echo 2","description":"x"}
---
text bravo2
---
text charlie3
`,
	})
	at := w.serve("0")
	_, port, _ := net.SplitHostPort(at)
	far := newRelay(t, at)
	a := w.attach("first", "http://"+at)
	a.Sees("anything")
	a.Types("go\r")
	a.Sees("permission")
	b := w.attach("second", "-c", "http://"+far.l.Addr().String())
	b.Sees("permission")
	b.Answers("y", "alpha1")
	a.Sees("alpha1")

	b.Types("\x15more\r") // without keys that came too late for the ask
	a.Sees("permission")
	b.Sees("permission")
	far.cut(true)
	b.Sees("connect")
	w.allow(at) // elsewhere: keys of those who typed a moment ago do not count here
	a.Sees("bravo2")
	far.cut(false)
	b.Sees("bravo2")

	w.kill()
	a.Sees("connect")
	b.Sees("connect")
	w.serve(port)
	c := w.attach("third", "-c") // finds the server by itself
	c.Sees("bravo2")
	b.Types("last\r")
	b.Sees("charlie3")
	a.Sees("charlie3")
	c.Sees("charlie3")
}

// Two screens on one session, each a process of its own and without a server, stay in step: what
// one does the other shows, and says where it is asked and stopped. A prompt that cannot be sent
// meanwhile stays in the input.
func TestTwoScreensWithoutAServer(t *testing.T) {
	w := newStation(t, map[string]string{
		"opencode.json": `{"permission":{"bash":"ask"}}`,
		"turn.txt": `tool bash {"command":"echo 1","description":"x"}
---
text alpha1
---
text bravo2
---
text charlie3
`,
	})
	a := w.open("first")
	a.Sees("anything")
	a.Types("go\r")
	a.Sees("permission")
	b := w.open("second", "-c")
	b.Sees("works")
	b.Types("more\r")
	b.Sees("again:") // it is in the input again
	a.Answers("y", "alpha1")
	b.Sees("alpha1")
	b.Answers("\r", "bravo2") // until the first has let go of the session
	a.Sees("bravo2")
	a.Answers("last\r", "charlie3")
	b.Sees("charlie3")
}
