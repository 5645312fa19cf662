package shell

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const noGrace = time.Millisecond

// printed collects what a process prints and tells of it.
type printed struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{}
}

func newPrinted() *printed { return &printed{more: make(chan struct{}, 1)} }

func (o *printed) write(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(p)
	select {
	case o.more <- struct{}{}:
	default:
	}
}

func (o *printed) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// await waits until the output holds a text.
func (o *printed) await(t testing.TB, text string) {
	t.Helper()
	late := time.After(patience)
	for !strings.Contains(o.String(), text) {
		select {
		case <-o.more:
		case <-late:
			t.Fatalf("%q does not come: %q", text, o)
		}
	}
}

// begin starts a script in bash that goes on by itself.
func begin(t testing.TB, r *Runner, dir, script string, o StartOptions) (*Process, *printed) {
	t.Helper()
	out := newPrinted()
	l, err := r.Start(Command{Script: script, Dir: dir, Env: append(os.Environ(), "LC_ALL=C"), Shell: "/bin/bash", Output: out.write}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Stop(noGrace) })
	return l, out
}

func ended(t testing.TB, l *Process) Exit {
	t.Helper()
	exit, err := l.Exit()
	if err != nil {
		t.Fatal(err)
	}
	return exit
}

func TestStart(t *testing.T) {
	r := New(Options{})
	l, out := begin(t, r, t.TempDir(), "read line; echo got $line; cat; exit 3", StartOptions{})
	if _, err := l.Write([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	out.await(t, "got one\n")
	if err := l.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Exit{Code: 3}, ended(t, l), noTime); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := l.Write([]byte("two\n")); !errors.Is(err, ErrNoInput) {
		t.Errorf("input after the end: %v", err)
	}
	if r.mayHold() {
		t.Error("its call goes on")
	}
	if _, err := r.Start(Command{Script: "true", Dir: "/none"}, StartOptions{}); err == nil {
		t.Error("started nowhere")
	}
}

func TestStartInTerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a terminal")
	}
	r := New(Options{})
	l, out := begin(t, r, t.TempDir(), "trap 'echo stopped by a key; exit 5' INT; stty size; while :; do read x; stty size; done", StartOptions{Terminal: true, Rows: 30, Cols: 90})
	out.await(t, "30 90")
	if err := l.Resize(40, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	out.await(t, "40 100")
	if err := l.Interrupt(); err != nil {
		t.Fatal(err)
	}
	out.await(t, "stopped by a key")
	if exit := ended(t, l); exit.Code != 5 {
		t.Errorf("%+v", exit)
	}
	if l.Resize(1, 1) == nil {
		t.Error("a terminal that is gone has a size")
	}
}

// A process that reads nothing takes a bounded time to be told so.
func TestInputThatIsNotRead(t *testing.T) {
	r := New(Options{Typed: 10 * time.Millisecond})
	for _, terminal := range []bool{false, true} {
		l, out := begin(t, r, t.TempDir(), "stty raw -echo 2>/dev/null; echo ready; sleep 1000", StartOptions{Terminal: terminal})
		out.await(t, "ready")
		n, err := l.Write(bytes.Repeat([]byte("x"), 1<<20))
		if err == nil || !strings.Contains(err.Error(), "does not read its input") || n >= 1<<20 {
			t.Errorf("terminal %v: %d bytes, %v", terminal, n, err)
		}
	}
}

func TestStopIgnoringSignals(t *testing.T) {
	r := New(Options{})
	l, out := begin(t, r, t.TempDir(), "trap '' TERM INT HUP; echo ready; while :; do sleep 1000; done", StartOptions{})
	out.await(t, "ready")
	l.Stop(10 * time.Millisecond)
	if diff := cmp.Diff(Exit{Code: -1, Signal: "killed", Aborted: true}, ended(t, l), noTime); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l.Stop(time.Hour) // again: returns at once
}

// A process that has time to clear up before it ends uses it.
func TestStopGently(t *testing.T) {
	r := New(Options{})
	l, out := begin(t, r, t.TempDir(), "trap 'echo clearing up; exit 0' TERM; echo ready; while :; do read -t 1000 x <> <(:); done", StartOptions{})
	out.await(t, "ready")
	l.Stop(patience)
	if exit := ended(t, l); exit.Code != 0 || !strings.HasSuffix(out.String(), "clearing up\n") {
		t.Errorf("%+v %q", exit, out)
	}
}

// The shell of a process may end before what it started does: that goes on, and is
// ended with it.
func TestShellEndsFirst(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs marks")
	}
	r := New(Options{})
	for name, script := range escapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			l, _ := begin(t, r, dir, script, StartOptions{})
			eventually(t, "it is left behind", func() bool { return leftBehind(dir) && l.p.leader() == 0 })
			if len(l.PIDs()) == 0 && name != "no limit" { // that one may not be a child of lathe yet
				t.Error("nothing is alive")
			}
			l.Stop(noGrace)
			if alive(t, dir) {
				t.Error("a process survives")
			}
		})
	}
}

// A process whose last part ends by itself is over, without anybody asking.
func TestRestEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs marks")
	}
	r := New(Options{})
	dir := t.TempDir()
	l, _ := begin(t, r, dir, `(setsid bash -c 'echo $$ > pid; until [ -e go ]; do sleep 0.01; done; echo last >&2' &); until [ -s pid ]; do :; done; exit 4`, StartOptions{})
	<-l.p.exited
	if len(l.PIDs()) == 0 {
		t.Error("the rest is not seen")
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if exit := ended(t, l); exit.Code != 4 || exit.Aborted {
		t.Errorf("%+v", exit)
	}
}

func TestAdopt(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs marks")
	}
	r := New(Options{})
	for _, name := range []string{"background", "nohup", "double fork", "no environment"} {
		dir := t.TempDir()
		_, exit := run(t, t.Context(), r, Command{Script: escapes[name] + "; exit 2", Dir: dir, Adopt: true})
		if exit.Live == nil || exit.Code != 2 || exit.Kept || exit.Leftover != nil {
			t.Fatalf("%s: %+v", name, exit)
		}
		if len(exit.Live.PIDs()) == 0 || len(exit.Live.Names()) == 0 {
			t.Errorf("%s: not alive", name)
		}
		run(t, t.Context(), r, Command{Script: escapes["setsid"]}) // ends its own alone
		if len(exit.Live.PIDs()) == 0 {
			t.Errorf("%s: ended with another command", name)
		}
		exit.Live.Stop(noGrace)
		if alive(t, dir) {
			t.Errorf("%s: survives", name)
		}
	}
	if _, exit := run(t, t.Context(), r, Command{Script: "true", Adopt: true}); exit.Live != nil {
		t.Error("nothing goes on")
	}
	dir := t.TempDir()
	if _, exit := run(t, t.Context(), r, Command{Script: noMarks, Dir: dir, Adopt: true}); exit.Live != nil || alive(t, dir) {
		t.Errorf("what has no mark goes on: %+v", exit)
	}
}

// A command that is kept goes on with its output, and what was printed so far is not
// lost.
func TestKeep(t *testing.T) {
	r := New(Options{})
	first, second := newPrinted(), newPrinted()
	keep := make(chan struct{})
	dir := t.TempDir()
	var exit Exit
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, exit = run(t, t.Context(), r, Command{Script: "echo first; until [ -e go ]; do sleep 0.01; done; echo second; exit 7", Dir: dir, Output: first.write, Keep: keep})
	}()
	first.await(t, "first\n")
	close(keep)
	<-done
	if exit.Live == nil || !exit.Kept {
		t.Fatalf("%+v", exit)
	}
	exit.Live.Follow(second.write)
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, exit.Live); end.Code != 7 {
		t.Errorf("%+v", end)
	}
	if diff := cmp.Diff([]string{"first\n", "second\n"}, []string{first.String(), second.String()}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := exit.Live.Write([]byte("x")); !errors.Is(err, ErrNoInput) {
		t.Errorf("input: %v", err)
	}
}

func TestPorts(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs python3 on Linux")
	}
	r := New(Options{})
	l, out := begin(t, r, t.TempDir(), `exec python3 -uc '
import socket, time
for family, addr in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"):
    s = socket.socket(family)
    s.bind((addr, 0))
    s.listen()
    print("port", s.getsockname()[1])
    globals()[addr] = s
print("ready")
time.sleep(1000)'`, StartOptions{})
	out.await(t, "ready")
	var want []int
	for line := range strings.Lines(out.String()) {
		if port, ok := strings.CutPrefix(strings.TrimSpace(line), "port "); ok {
			n, err := strconv.Atoi(port)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, n)
		}
	}
	if want[0] > want[1] {
		want[0], want[1] = want[1], want[0]
	}
	if diff := cmp.Diff(want, l.Ports()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l.Stop(noGrace)
	if ports := l.Ports(); ports != nil {
		t.Errorf("after the end: %v", ports)
	}
}

// lonely starts a process that goes on and waits to be killed.
func lonely(dir string) {
	exe, _ := os.Executable()
	r := New(Options{Supervisor: []string{exe, "__supervise"}})
	c := Command{Dir: dir, Shell: "/bin/bash", Env: []string{"PATH=" + os.Getenv("PATH")}, Script: "trap '' TERM HUP; echo $$ > pid; while :; do sleep 1000; done"}
	if _, err := r.Start(c, StartOptions{Terminal: os.Getenv("SHELL_TEST_TERMINAL") != ""}); err != nil {
		panic(err)
	}
	select {}
}

// What goes on by itself ends with lathe, whichever way that ends.
func TestLiveEndsWithLathe(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a supervisor")
	}
	for _, terminal := range []string{"", "1"} {
		dir := t.TempDir()
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "SHELL_TEST_LONELY="+dir, "SHELL_TEST_TERMINAL="+terminal)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it runs", func() bool { return leftBehind(dir) })
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		eventually(t, "it is gone", func() bool { return !alive(t, dir) })
	}
}

func TestManyLive(t *testing.T) {
	r := New(Options{})
	var all []*Process
	for i := range 30 {
		l, _ := begin(t, r, t.TempDir(), "sleep 1000 & wait", StartOptions{Terminal: runtime.GOOS != "windows" && i%5 == 0})
		all = append(all, l)
	}
	var wg sync.WaitGroup
	for _, l := range all {
		wg.Go(func() { l.Stop(noGrace) })
	}
	wg.Wait()
	for _, l := range all {
		if pids := l.PIDs(); pids != nil {
			t.Errorf("left: %v", pids)
		}
	}
	if r.mayHold() {
		t.Error("calls go on")
	}
}

func BenchmarkStart(b *testing.B) {
	r := New(Options{})
	dir := b.TempDir()
	for b.Loop() {
		l, err := r.Start(Command{Script: "true", Dir: dir, Shell: "/bin/bash", Env: os.Environ()}, StartOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if exit, _ := l.Exit(); exit.Code != 0 {
			b.Fatal(strconv.Itoa(exit.Code))
		}
	}
}
