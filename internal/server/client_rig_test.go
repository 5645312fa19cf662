package server

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/enginetest"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/workspace"
)

// awayVar names a lathe program, with which tests of OpenCode's clients talk to a server
// that has no files: a worker does, in another process with another home.
const awayVar = "LATHE_TEST_AWAY"

// newClientRig returns a rig for what talks to the server over HTTP alone: a server in this
// process, or one with a worker elsewhere.
func newClientRig(t *testing.T) *rig {
	t.Helper()
	program := os.Getenv(awayVar)
	if program == "" {
		return newRig(t)
	}
	top, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: filepath.Join(top, "repo"), http: http.DefaultClient, beside: "../"}
	write(t, filepath.Join(r.dir, "a.txt"), "hello\nworld\n")
	write(t, filepath.Join(r.dir, "sub", "b.go"), "package b\n")
	home, empty := filepath.Join(top, "home"), filepath.Join(top, "empty")
	for _, dir := range []string{home, empty} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	enginetest.Repository(t, r.dir, home)
	address := pgtest.Schema(t)
	r.start(program, home, empty, "worker", "--store", address, "--root", r.dir)
	line := r.start(program, filepath.Join(top, "other-home"), empty, "serve", "--workers-only", "--port", "0", "--store", address)
	_, host, ok := strings.Cut(line, "http://")
	if !ok {
		t.Fatalf("the server says %q", line)
	}
	r.url = "http://" + strings.Fields(host)[0]
	return r
}

// start runs lathe until the test ends, and returns the first line that it says.
func (r *rig) start(program, home, dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LATHE_HOME=" + filepath.Join(home, "lathe"), "LATHE_TRUST=1", "LATHE_RETRY_BASE=1ms",
		"OPENCODE_DISABLE_MODELS_FETCH=1", "LATHE_DISABLE_LOCAL_MODELS=1", "LC_ALL=C.UTF-8",
	}
	log := &strings.Builder{}
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	said := bufio.NewReader(out)
	line, err := said.ReadString('\n')
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(testLimit/3, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		_, _ = io.Copy(io.Discard, said)
		_ = cmd.Wait() // it was stopped
		if r.t.Failed() {
			r.t.Logf("lathe %s: %s", args[0], log)
		}
	})
	if err != nil {
		r.t.Fatalf("lathe %s: %v", args[0], err)
	}
	return line
}
