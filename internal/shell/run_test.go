package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// patience is how long a busy machine may take for what other processes do.
const patience = 30 * time.Second

var noTime = cmpopts.IgnoreFields(Exit{}, "Duration")

// run runs a script in bash and returns its output.
func run(t testing.TB, ctx context.Context, r *Runner, c Command) (string, Exit) {
	t.Helper()
	var out bytes.Buffer
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	c.Env = append(append(os.Environ(), "LC_ALL=C"), c.Env...) // a shell warns of a locale that is not installed
	c.Shell = "/bin/bash"
	if c.Output == nil {
		c.Output = func(p []byte) { out.Write(p) }
	}
	exit, err := r.Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), exit
}

func TestRun(t *testing.T) {
	r := New(Options{})
	rows := []struct {
		script, out string
		exit        Exit
	}{
		{"echo a; echo b >&2; echo c", "a\nb\nc\n", Exit{}},
		{"exit 3", "", Exit{Code: 3}},
		{"cat; echo end", "end\n", Exit{}},
		{"kill -9 $$", "", Exit{Code: -1, Signal: "killed"}},
		{"nonesuch 2>/dev/null", "", Exit{Code: 127}},
		{"(exit 0) & wait; echo $X", "y\n", Exit{}},
	}
	for _, row := range rows {
		out, exit := run(t, t.Context(), r, Command{Script: row.script, Env: []string{"X=y"}})
		if diff := cmp.Diff(row.exit, exit, noTime); diff != "" || out != row.out {
			t.Errorf("%s: %q (-want +got):\n%s", row.script, out, diff)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		c    Command
		want string
	}{
		{Command{Script: "ls", Dir: dir + "/none"}, "no such file or directory"},
		{Command{Script: "ls", Dir: file}, "not a directory"},
		{Command{Script: "a\x00b", Dir: dir}, "NUL"},
		{Command{Script: strings.Repeat("a", 200<<10), Dir: dir}, "write it to a file"},
		{Command{Script: "ls", Dir: dir, Shell: "/none/sh"}, `shell "/none/sh"`},
	}
	for _, r := range rows {
		if _, err := Run(t.Context(), r.c); err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("got %v, want %q", err, r.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if exit, err := Run(ctx, Command{Script: "touch x", Dir: dir}); err != nil || !exit.Aborted {
		t.Errorf("ended context: %+v, %v", exit, err)
	}
	if _, err := os.Stat(dir + "/x"); err == nil {
		t.Error("ran although the context had ended")
	}
}

// escapes are ways to leave a process behind that outlasts any test; each prints its
// pid to a file and holds the output or not. Those that drop marks wait until they
// have them.
var escapes = map[string]string{
	"background":     `sleep 1000 & echo $! > pid`,
	"nohup":          `nohup sleep 1000 >/dev/null 2>&1 & echo $! > pid`,
	"setsid":         `setsid bash -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 & until [ -s pid ]; do :; done`,
	"double fork":    `( ( setsid bash -c 'echo $$ > pid; exec sleep 1000' & ) & ); until [ -s pid ]; do :; done`,
	"ignores":        `(trap '' TERM HUP INT; echo $BASHPID > pid; while :; do sleep 1000; done) & until [ -s pid ]; do :; done`,
	"no environment": marked + `env -i setsid /bin/bash -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 & until [ -s pid ]; do :; done`,
	"disown":         `sleep 1000 </dev/null >/dev/null 2>&1 & echo $! > pid; disown`,
	"stopped":        `sleep 1000 & echo $! > pid; kill -STOP $!`,
	"no limit":       marked + `(ulimit -SR $(ulimit -HR); exec setsid bash -c 'echo $$ > pid; exec sleep 1000') & until [ -s pid ]; do :; done`,
}

// marked waits until the shell has the mark that it gets when it already runs.
const marked = `until [ "$(ulimit -SR)" != unlimited ]; do sleep 0.01; done; `

// firstThreadEnds leaves a process whose first thread has ended, which the kernel
// shows as a dead one.
const firstThreadEnds = `setsid python3 -c '
import ctypes, os, threading, time
def go():
    time.sleep(0.2)
    open("pid", "w").write(str(os.getpid()))
    time.sleep(1000)
threading.Thread(target=go).start()
ctypes.CDLL(None).syscall(60, 0)
' & until [ -s pid ]; do sleep 0.01; done`

func init() {
	if _, err := exec.LookPath("python3"); err == nil && runtime.GOARCH == "amd64" {
		escapes["first thread ends"] = firstThreadEnds
	}
}

// alive reports whether the process that a script left behind lives on.
func alive(t *testing.T, dir string) bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	proc := "/proc/" + strings.TrimSpace(string(raw))
	// A killed process may take a moment to be gone on a busy machine.
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(proc + "/stat")
		threads, _ := filepath.Glob(proc + "/task/*")
		if err != nil || strings.Contains(string(stat), ") Z ") && len(threads) <= 1 {
			return false
		}
	}
	return true
}

func leftBehind(dir string) bool {
	raw, _ := os.ReadFile(filepath.Join(dir, "pid"))
	return len(raw) > 0
}

func TestNothingSurvives(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	r := New(Options{})
	for name, script := range escapes {
		for _, end := range []string{"exit", "timeout", "abort"} {
			t.Run(name+" "+end, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				c := Command{Script: script, Dir: dir}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				want := Exit{}
				switch end {
				case "timeout":
					c.Script += "; echo; sleep 1000"
					c.Timeout = 700 * time.Millisecond
					want = Exit{Code: -1, TimedOut: true, Signal: "terminated"}
				case "abort":
					c.Script += "; echo go; sleep 1000"
					c.Output = func([]byte) { cancel() }
					want = Exit{Code: -1, Aborted: true, Signal: "terminated"}
				}
				_, exit := run(t, ctx, r, c)
				for ; exit.TimedOut && !leftBehind(dir) && c.Timeout < patience; c.Timeout *= 2 {
					_, exit = run(t, ctx, r, c) // on a busy machine it did not get that far
				}
				if alive(t, dir) {
					t.Error("a process survives")
				}
				if end == "exit" && len(exit.Leftover) == 0 && name != "no limit" {
					t.Error("nothing is said about it")
				}
				if diff := cmp.Diff(want, exit, noTime, cmpopts.IgnoreFields(Exit{}, "Leftover")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// noMarks leaves a process behind that has neither mark. Nothing tells whose it is,
// so it ends with whichever command ends first.
const noMarks = marked + `(ulimit -R unlimited 2>/dev/null || ulimit -SR $(ulimit -HR); exec env -i /bin/bash -c '(setsid /bin/bash -c "echo \$\$ > pid; exec sleep 1000" &)') & until [ -s pid ]; do :; done`

func TestUnmarkedDoesNotSurvive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	dir := t.TempDir()
	r := New(Options{})
	_, exit := run(t, t.Context(), r, Command{Script: noMarks, Dir: dir})
	if alive(t, dir) || len(exit.Leftover) == 0 {
		t.Errorf("survives, or nothing is said: %+v", exit)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run(t, ctx, r, Command{Script: noMarks + "; echo go; sleep 1000", Dir: dir, Output: func([]byte) { cancel() }})
	if alive(t, dir) {
		t.Error("survives an abort")
	}
}

func TestFloodIsBounded(t *testing.T) {
	spool := NewSpool(SpoolOptions{Head: 1000, Tail: 1000})
	_, exit := run(t, t.Context(), New(Options{}), Command{Script: "yes | head -c 200000000; printf end", Output: func(p []byte) { _, _ = spool.Write(p) }})
	if exit.Code != 0 || spool.Total() != 200000003 || !bytes.HasSuffix(spool.Tail(), []byte("y\nend")) || len(spool.Head()) != 1000 {
		t.Errorf("%+v, %d bytes", exit, spool.Total())
	}
	_, exit = run(t, t.Context(), New(Options{}), Command{Script: "yes", Timeout: 300 * time.Millisecond, Output: func([]byte) {}})
	if !exit.TimedOut {
		t.Errorf("%+v", exit)
	}
}

// TestSlowReaderLosesNothing: output that waits in the pipe when the shell ends
// still arrives.
func TestSlowReaderLosesNothing(t *testing.T) {
	n := 0
	gate := make(chan struct{})
	time.AfterFunc(400*time.Millisecond, func() { close(gate) })
	run(t, t.Context(), New(Options{}), Command{Script: "head -c 60000 /dev/zero", Output: func(p []byte) { <-gate; n += len(p) }})
	if n != 60000 {
		t.Errorf("got %d bytes", n)
	}
}

func TestConcurrentCommands(t *testing.T) {
	r := New(Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if out, exit := run(t, t.Context(), r, Command{Script: "sleep 0.01 & echo x; wait"}); out != "x\n" || exit.Code != 0 || exit.Leftover != nil {
					t.Errorf("%q %+v", out, exit)
				}
			}
		})
	}
	wg.Wait()
}

// victim runs what is left behind and waits to be killed.
func victim(dir string) {
	exe, _ := os.Executable()
	r := New(Options{Supervisor: []string{exe, "__supervise"}})
	script := os.Getenv("SHELL_TEST_SCRIPT")
	if script == "" {
		script = escapes["double fork"]
	}
	_, _ = r.Run(context.Background(), Command{Dir: dir, Shell: "/bin/bash", Env: []string{"PATH=" + os.Getenv("PATH")},
		Script: script + "; echo ready > ready; sleep 1000"})
	os.Exit(1)
}

func TestNothingSurvivesLathe(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "SHELL_TEST_VICTIM="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command runs", func() bool { _, err := os.Stat(dir + "/ready"); return err == nil })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "what was left is gone", func() bool { return !alive(t, dir) })
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(5 * time.Millisecond) // another process does it; there is nothing to wait on
	}
}

func TestSupervisorEndsWithRunner(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{Supervisor: []string{exe, "__supervise"}})
	run(t, t.Context(), r, Command{Script: "true"})
	if canSupervise && r.sup == nil {
		t.Error("no supervisor")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if SupervisorMain(nil) == 0 && canSupervise || SupervisorMain([]string{"zz"}) == 0 && canSupervise {
		t.Error("the supervisor takes anything")
	}
}

type file struct {
	bytes.Buffer
	closed bool
	fail   error
}

func (f *file) Write(p []byte) (int, error) {
	if f.fail != nil {
		return 0, f.fail
	}
	return f.Buffer.Write(p)
}
func (f *file) Close() error { f.closed = true; return nil }

func TestSpool(t *testing.T) {
	f := &file{}
	s := NewSpool(SpoolOptions{Head: 4, Tail: 3, Cap: 10, Create: func() (io.WriteCloser, error) { return f, nil }})
	for _, chunk := range []string{"ab", "cd"} {
		_, _ = s.Write([]byte(chunk))
	}
	if s.Saved() != 0 {
		t.Error("a file too early")
	}
	for _, chunk := range []string{"e", "fghij", "klmno"} {
		_, _ = s.Write([]byte(chunk))
	}
	got := []string{string(s.Head()), string(s.Tail()), f.String()}
	if diff := cmp.Diff([]string{"abcd", "mno", "abcdefghij"}, got); diff != "" || s.Total() != 15 || s.Saved() != 10 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := s.Close(); err != nil || !f.closed {
		t.Error(err)
	}
	full := errors.New("disk full")
	s = NewSpool(SpoolOptions{Create: func() (io.WriteCloser, error) { return &file{fail: full}, nil }})
	_, _ = s.Write([]byte("x"))
	if err := s.Close(); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

func TestEnv(t *testing.T) {
	got := Env([]string{"A=1", "SECRET=x", "KEY_B=2", "C=3", "junk"}, map[string]string{"C": "4", "B": "5"}, "SECRET", "KEY_*")
	if diff := cmp.Diff([]string{"A=1", "B=5", "C=4"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestChoose(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs bash on Linux")
	}
	path := "PATH=" + filepath.Dir(bash)
	rows := map[string][]string{
		"/bin/sh": {"SHELL=/bin/sh", path},
		bash:      {"SHELL=/usr/bin/fish", path},
	}
	for want, env := range rows {
		if got := Choose(env); got != want {
			t.Errorf("%q: got %s, want %s", env, got, want)
		}
	}
	for _, none := range []string{"/bin/false", "/usr/sbin/nologin"} {
		if got := Choose([]string{"SHELL=" + none, path}); got != bash {
			t.Errorf("in place of %s: got %s", none, got)
		}
	}
	if got := Choose([]string{"SHELL=none"}); got != "/bin/sh" {
		t.Errorf("got %s", got)
	}
}

func BenchmarkRun(b *testing.B) {
	r := New(Options{})
	dir := b.TempDir()
	for b.Loop() {
		if _, err := r.Run(b.Context(), Command{Script: "true", Dir: dir, Shell: "/bin/bash", Env: os.Environ()}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPlainExec(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		cmd := exec.Command("/bin/bash", "-c", "true")
		cmd.Dir = dir
		if _, err := cmd.CombinedOutput(); err != nil {
			b.Fatal(err)
		}
	}
}
