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

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"lathe"
	"lathe/internal/client"
)

// stuck is how long a test waits for what has to come.
const stuck = time.Minute

// screen is a screen of lathe on a terminal of its own.
type screen struct {
	t    *testing.T
	name string
	tty  *os.File

	mu    sync.Mutex
	shown []byte
	seen  int // up to where it was looked at
	more  chan struct{}
}

func (w *station) attach(name string, args ...string) *screen {
	w.t.Helper()
	return w.open(name, append([]string{"attach"}, args...)...)
}

func (w *station) open(name string, args ...string) *screen {
	w.t.Helper()
	cmd := w.lathe(append(args, "-m", "script/turn.txt")...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	s := &screen{t: w.t, name: name, tty: tty, more: make(chan struct{}, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for buf := make([]byte, 4096); ; {
			n, err := tty.Read(buf)
			s.mu.Lock()
			s.shown = append(s.shown, buf[:n]...)
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = tty.Close()
		<-read
	})
	return s
}

// sees waits until a text was drawn since what was waited for before. The text has
// to be one word: what lies between words may be drawn apart.
func (s *screen) sees(word string) {
	s.t.Helper()
	s.wait(word, nil, "")
}

// answers presses a key of an ask until a word is drawn: an ask takes no keys
// before it can be read, and none of somebody who is typing.
func (s *screen) answers(key, word string) {
	s.t.Helper()
	press := time.NewTicker(1500 * time.Millisecond)
	defer press.Stop()
	s.wait(word, press.C, key)
}

// wait waits until a word is drawn, and presses the key with each tick until then.
func (s *screen) wait(word string, press <-chan time.Time, key string) {
	s.t.Helper()
	late := time.NewTimer(stuck)
	defer late.Stop()
	for {
		s.mu.Lock()
		text := ansi.Strip(string(s.shown[s.seen:]))
		if strings.Contains(text, word) {
			s.seen = len(s.shown)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		select {
		case <-s.more:
		case <-press:
			s.types(key)
		case <-late.C:
			s.t.Fatalf("%s does not show %q (pressed: %q):\n%s", s.name, word, key, text)
		}
	}
}

func (s *screen) types(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.t.Fatal(err)
	}
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
	a.sees("anything")
	a.types("go\r")
	a.sees("permission")
	b := w.attach("second", "-c", "http://"+far.l.Addr().String())
	b.sees("permission")
	b.answers("y", "alpha1")
	a.sees("alpha1")

	b.types("\x15more\r") // without keys that came too late for the ask
	a.sees("permission")
	b.sees("permission")
	far.cut(true)
	b.sees("connect")
	w.allow(at) // elsewhere: keys of those who typed a moment ago do not count here
	a.sees("bravo2")
	far.cut(false)
	b.sees("bravo2")

	w.kill()
	a.sees("connect")
	b.sees("connect")
	w.serve(port)
	c := w.attach("third", "-c") // finds the server by itself
	c.sees("bravo2")
	b.types("last\r")
	b.sees("charlie3")
	a.sees("charlie3")
	c.sees("charlie3")
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
	a.sees("anything")
	a.types("go\r")
	a.sees("permission")
	b := w.open("second", "-c")
	b.sees("works")
	b.types("more\r")
	b.sees("again:") // it is in the input again
	a.answers("y", "alpha1")
	b.sees("alpha1")
	b.answers("\r", "bravo2") // until the first has let go of the session
	a.sees("bravo2")
	a.answers("last\r", "charlie3")
	b.sees("charlie3")
}
