package main

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lathe/internal/llm/llmtest"
)

// world is a directory to work in and a home of lathe's, for real processes.
type world struct {
	t    testing.TB
	dir  string
	home string
	env  []string
	// program is the lathe that is started; "" is this one.
	program string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{t: t, dir: filepath.Join(root, "project"), home: filepath.Join(root, "home")}
	for _, dir := range []string{w.dir, filepath.Join(w.home, "config"), filepath.Join(w.home, "data")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = append([]string{asMain + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + root, "LATHE_HOME=" + w.home}, hermetic()...)
	return w
}

// model starts a model server and makes test/m, which it answers, the default.
func (w *world) model(protocol string, script llmtest.Script) *llmtest.Server {
	w.t.Helper()
	s := llmtest.New(w.t, script, llmtest.Chunks(7))
	conf, err := providerConfig(protocol, s.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(w.home, "config", "lathe.json"), string(conf))
	return s
}

// write writes a file; a relative path is one of the working directory.
func (w *world) write(path, text string) {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.dir, path)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// await waits until a file of the working directory is there.
func (w *world) await(name string) {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) { // another process makes it
		if _, err := os.Stat(filepath.Join(w.dir, name)); err == nil {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s did not appear", name)
		}
	}
}

// result is how a process ended and what it printed.
type result struct {
	code           int
	stdout, stderr string
}

// command returns lathe, ready to start.
func (w *world) command(args ...string) *exec.Cmd {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(cmp.Or(w.program, self), args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	// A process that hangs ends the test with what its goroutines do.
	cmd.Cancel, cmd.WaitDelay = nil, 10*time.Second
	return cmd
}

// run runs lathe to its end.
func (w *world) run(args ...string) result {
	w.t.Helper()
	return w.finish(w.command(args...))
}

// finish runs a prepared command to its end.
func (w *world) finish(cmd *exec.Cmd) result {
	w.t.Helper()
	var out, errs bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &errs
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	code := w.wait(cmd)
	return result{code, out.String(), errs.String()}
}

// wait returns the exit code, or minus the number of the signal that ended it.
func (w *world) wait(cmd *exec.Cmd) int {
	w.t.Helper()
	stuck := time.AfterFunc(90*time.Second, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	defer stuck.Stop()
	err := cmd.Wait()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		if s, ok := e.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			return -int(s.Signal())
		}
		return e.ExitCode()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return 0
}

// must fails the test unless a run ended well, and returns what it answered.
func (w *world) must(r result) string {
	w.t.Helper()
	if r.code != 0 {
		w.t.Fatalf("exit code %d\nstdout: %s\nstderr: %s", r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// accepted fails the test when a real provider would have refused a request.
func accepted(t testing.TB, s *llmtest.Server) {
	t.Helper()
	for i, r := range s.Requests() {
		if r.Rejected != "" {
			t.Fatalf("request %d would be refused: %s", i+1, r.Rejected)
		}
	}
}

// asked returns the requests that offer tools, which are those of the work.
func asked(t testing.TB, s *llmtest.Server) []llmtest.Request {
	t.Helper()
	accepted(t, s)
	var out []llmtest.Request
	for _, r := range s.Requests() {
		if len(r.Tools) > 0 {
			out = append(out, r)
		}
	}
	return out
}
