package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/llm/llmtest"
)

// patience is how long a test waits for what has to happen.
const patience = time.Minute

// fifo makes a pipe in the working directory. The returned function waits until
// a command of the model wrote a line to it.
func (w *world) fifo(name string) (wait func() string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	makeFIFO(w.t, path)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = f.Close() })
	return func() string {
		_ = f.SetReadDeadline(time.Now().Add(patience))
		line, err := bufio.NewReader(f).ReadString('\n')
		if err != nil {
			w.t.Fatalf("nothing came through %s: %v", name, err)
		}
		return strings.TrimSpace(line)
	}
}

// stuckScript runs a command that does not end, which tells its process id.
func stuckScript(after ...llmtest.Step) llmtest.Script {
	return append(llmtest.Script{{Blocks: []llmtest.Block{
		llmtest.Text("Working."),
		llmtest.Call{Name: "bash", Args: `{"command":"echo $$ > started; exec sleep 1000","description":"wait"}`},
	}}}, after...)
}

// outer returns the process of a command that says of itself that it is pid: confined
// it has a number of its own.
func (w *world) outer(pid string) (n int) {
	w.t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if cwd, err := os.Readlink(filepath.Join(dir, "cwd")); err != nil || cwd != w.dir {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(dir, "status"))
		_, line, _ := strings.Cut(string(status), "\nNSpid:")
		line, _, _ = strings.Cut(line, "\n")
		if f := strings.Fields(line); len(f) > 0 && f[len(f)-1] == pid {
			n, _ = strconv.Atoi(filepath.Base(dir))
			return n
		}
	}
	w.t.Fatalf("there is no process %q in %s", pid, w.dir)
	return 0
}

// gone waits until a process ended.
func gone(t testing.TB, n int) {
	t.Helper()
	for end := time.Now().Add(patience); alive(n); {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", n)
		}
		time.Sleep(time.Millisecond) // a process that is not ours cannot be waited for
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// TestInterrupt stops a run that waits for a command: cleanly, with the command
// gone, the call answered and the session fit to go on.
func TestInterrupt(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			started := w.fifo("started")
			s := w.model("anthropic", stuckScript(llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("resumed")}}))
			cmd := w.command("run", "wait")
			var errs strings.Builder
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid := w.outer(started())
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := w.wait(cmd); code != 130 {
				t.Errorf("exit code %d, want 130\n%s", code, errs.String())
			}
			gone(t, pid)
			if !strings.Contains(errs.String(), "aborting") {
				t.Errorf("nothing is said about the abort:\n%s", errs.String())
			}
			if got := w.must(w.run("run", "-c", "go on")); got != "resumed\n" {
				t.Errorf("the resumed run answers %q", got)
			}
			reqs := asked(t, s)
			if got := strings.Join(conversation(reqs[1]), " | "); !strings.Contains(got, "call bash | result bash of ") || !strings.Contains(got, "abort") {
				t.Errorf("the call is not answered as aborted: %s", got)
			}
		})
	}
}

// TestInterruptWhileStreaming stops a run whose model went silent in an answer:
// what was said stays.
func TestInterruptWhileStreaming(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.model("openai", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Text("this much was said")}, Stall: true},
		{Blocks: []llmtest.Block{llmtest.Text("resumed")}},
	})
	cmd := w.command("run", "--format", "json", "talk")
	var errs strings.Builder
	cmd.Stderr = &errs
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Wait(ctx, 2); err != nil { // the answer and the title
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := w.wait(cmd); code != 130 {
		t.Errorf("exit code %d, want 130\n%s\n%s", code, out.String(), errs.String())
	}
	if !strings.Contains(out.String(), `"type":"error"`) {
		t.Errorf("no line tells that the run was aborted:\n%s", out.String())
	}
	w.must(w.run("run", "-c", "go on"))
	accepted(t, s)
}

// TestInterruptTwice ends the program at once.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := w.fifo("started")
	w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"trap '' TERM INT; echo $$ > started; while :; do sleep 1000; done","description":"stubborn"}`}}},
	})
	cmd := w.command("run", "wait")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := w.outer(started())
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if code := w.wait(cmd); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	gone(t, pid)
}

// TestBusy refuses a second run in a session that another process works in.
func TestBusy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := w.fifo("started")
	w.model("anthropic", stuckScript())
	cmd := w.command("run", "wait")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started()
	r := w.run("run", "-c", "me too")
	if r.code != 5 || !strings.Contains(r.stderr, fmt.Sprintf("is busy in process %d", cmd.Process.Pid)) {
		t.Errorf("exit code %d, want 5\n%s", r.code, r.stderr)
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	if code := w.wait(cmd); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

// TestSilentStdin does not hang on an input that nobody closes.
func TestSilentStdin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("went on")}}})
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer wr.Close()
	defer r.Close()
	cmd := w.command("run", "hello")
	cmd.Stdin = r
	res := w.finish(cmd)
	if got := w.must(res); got != "went on\n" || !strings.Contains(res.stderr, "standard input is open but silent; going on without it") {
		t.Errorf("answer %q\n%s", got, res.stderr)
	}
}

// TestSlowStdin takes in an input that begins late when it is the message.
func TestSlowStdin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("read")}}})
	cmd := w.command("run")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told, err := bufio.NewReader(errs).ReadString('\n')
	if err != nil || !strings.Contains(told, "waiting for the message on standard input") {
		t.Errorf("%q, %v", told, err)
	}
	_, _ = io.WriteString(in, "late words")
	_ = in.Close()
	go func() { _, _ = io.Copy(io.Discard, errs) }()
	if code := w.wait(cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := conversation(asked(t, s)[0]); got[0] != "text late words" {
		t.Errorf("the model was asked %q", got)
	}
}

// TestClosedStdout ends well when nobody reads the answer, and keeps it.
func TestClosedStdout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"touch done","description":"touch"}`}}},
		{Blocks: []llmtest.Block{llmtest.Text("nobody hears this")}},
	})
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer wr.Close()
	_ = r.Close()
	cmd := w.command("run", "hello")
	cmd.Stdout = wr
	if res := w.finish(cmd); res.code != 141 || strings.Contains(res.stderr, "broken pipe") {
		t.Errorf("exit code %d, want 141 without a complaint\n%s", res.code, res.stderr)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "done")); err != nil {
		t.Error("the work was not done:", err)
	}
	list := w.must(w.run("session", "list"))
	id, _, _ := strings.Cut(list, " ")
	if shown := w.must(w.run("session", "show", id)); !strings.Contains(shown, "nobody hears this") {
		t.Errorf("the answer is lost:\n%s", shown)
	}
}

// TestFullStdout reports that the answer could not be written.
func TestFullStdout(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	defer full.Close()
	w := newWorld(t)
	w.model("anthropic", llmtest.Script{{Times: 2, Blocks: []llmtest.Block{llmtest.Text("too much")}}})
	for _, args := range [][]string{
		{"run", "hello"}, {"run", "--format", "json", "hello"}, {"models"}, {"version"}, {"session", "list"}, {"session", "list", "--format", "json"}, {"config"}, {"auth", "list"}, {"--help"},
	} {
		if args[0] == "auth" {
			w.env = append(w.env, "OPENAI_API_KEY=x")
		}
		cmd := w.command(args...)
		cmd.Stdout = full
		if r := w.finish(cmd); r.code != 1 || !strings.Contains(r.stderr, "no space left on device") {
			t.Errorf("%v: exit code %d, stderr %q", args, r.code, r.stderr)
		}
	}
}

// TestReaderLeaves stops the work when the reader of its events goes away: the
// run ends cleanly and the session can go on.
func TestReaderLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script := llmtest.Script{}
	for i := range 40 {
		script = append(script, llmtest.Step{Blocks: []llmtest.Block{
			llmtest.Call{Name: "bash", Args: fmt.Sprintf(`{"command":"echo %d >> log","description":"count"}`, i)},
		}})
	}
	s := w.model("google", append(script, llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("end")}}))
	cmd := w.command("run", "--format", "json", "hello")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	if code := w.wait(cmd); code != 141 || strings.Contains(errs.String(), "broken pipe") {
		t.Errorf("exit code %d, want 141 without a complaint\n%s", code, errs.String())
	}
	if n := len(asked(t, s)); n > 38 {
		t.Errorf("%d requests after the reader left", n)
	}
	w.must(w.run("run", "-c", "go on"))
	accepted(t, s)
}
