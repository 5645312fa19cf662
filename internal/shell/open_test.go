package shell

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func openService(t testing.TB, r *Runner, p Program) *Service {
	t.Helper()
	if p.Dir == "" {
		p.Dir = t.TempDir()
	}
	if p.Env == nil {
		p.Env = []string{"PATH=" + os.Getenv("PATH")}
	}
	s, err := r.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop(noGrace)
		s.Stdin.Close()
		s.Stdout.Close()
	})
	return s
}

func TestOpenAnswersRequests(t *testing.T) {
	r, errs := New(Options{}), newPrinted()
	s := openService(t, r, Program{
		Args: []string{"bash", "-c", `while read line; do echo "answer $line"; echo "saw $line" >&2; done; echo last; exit 4`},
		Kind: KindMCP, Stderr: errs.write,
	})
	lines := bufio.NewReader(s.Stdout)
	for _, word := range []string{"one", "two"} {
		if _, err := io.WriteString(s.Stdin, word+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := lines.ReadString('\n'); err != nil || line != "answer "+word+"\n" {
			t.Fatalf("%q, %v", line, err)
		}
		errs.await(t, "saw "+word+"\n")
	}
	s.Stdin.Close()
	if diff := cmp.Diff(Exit{Code: 4}, ended(t, s.Process), noTime); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	rest, err := io.ReadAll(lines)
	if string(rest) != "last\n" || err != nil {
		t.Errorf("after the end: %q, %v", rest, err)
	}
	if r.mayHold() {
		t.Error("its call goes on")
	}
}

// The children of a service are its own: they are known, and stopped with it.
func TestOpenStopsTheTree(t *testing.T) {
	r := New(Options{})
	s := openService(t, r, Program{Args: []string{"bash", "-c", "setsid sleep 300 & echo ready; wait"}})
	if _, err := bufio.NewReader(s.Stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	pids := s.PIDs()
	if canSupervise && (len(pids) < 2 || !r.Started(pids[1])) {
		t.Errorf("processes %v", pids)
	}
	s.Stop(noGrace)
	if exit := ended(t, s.Process); !exit.Aborted {
		t.Errorf("%+v", exit)
	}
	for _, pid := range pids {
		if proc, err := os.FindProcess(pid); err == nil && proc.Signal(syscall.Signal(0)) == nil {
			t.Errorf("process %d lives on", pid)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + dir}
	tests := []struct {
		name string
		p    Program
		want error
		says string
	}{
		{"no name", Program{Dir: dir}, nil, "no name"},
		{"not on the path", Program{Args: []string{"bash"}, Dir: dir, Env: env}, exec.ErrNotFound, `start "bash"`},
		{"not executable", Program{Args: []string{"text"}, Dir: dir, Env: env}, exec.ErrNotFound, "text"},
		{"no such file", Program{Args: []string{"./none"}, Dir: dir, Env: env}, os.ErrNotExist, "./none"},
		{"no directory", Program{Args: []string{"bash"}, Dir: filepath.Join(dir, "none"), Env: env}, os.ErrNotExist, "none"},
		{"NUL", Program{Args: []string{"bash", "a\x00b"}, Dir: dir, Env: env}, nil, "NUL"},
	}
	r := New(Options{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := r.Open(tt.p)
			if s != nil || err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
	if r.mayHold() {
		t.Error("a call goes on")
	}
}
