//go:build linux

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lathe/internal/llm/llmtest"
)

// program is lathe, built once, or the one that LATHE_BIN names.
var program = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("LATHE_BIN"); bin != "" {
		return filepath.Abs(bin)
	}
	dir, err := os.MkdirTemp("", "lathe-bench")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "lathe")
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "lathe/cmd/lathe").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build lathe: %w\n%s", err, out)
	}
	return bin, nil
})

// place is a directory to work in, and a home of lathe's with a model.
type place struct {
	b    *testing.B
	root string
	home string
}

func newPlace(b *testing.B) *place {
	b.Helper()
	root := b.TempDir()
	p := &place{b: b, root: root, home: filepath.Join(root, "home")}
	for _, dir := range []string{filepath.Join(root, "project"), filepath.Join(p.home, "config")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	git := exec.Command("git", "init", "-q")
	git.Dir = filepath.Join(root, "project")
	if out, err := git.CombinedOutput(); err != nil {
		b.Fatalf("git init: %v\n%s", err, out)
	}
	return p
}

// serve starts a model server and makes it lathe's default model.
func (p *place) serve(script llmtest.Script) *llmtest.Server {
	p.b.Helper()
	s := llmtest.New(p.b, script, llmtest.Lenient())
	conf, err := json.Marshal(map[string]any{"model": "test/m", "provider": map[string]any{"test": map[string]any{
		"npm": "@ai-sdk/anthropic", "options": map[string]any{"baseURL": s.URL + "/v1", "apiKey": "k"},
		"models": map[string]any{"m": map[string]any{"tool_call": true, "limit": map[string]any{"context": 10000000, "output": 8192}}},
	}}})
	if err != nil {
		p.b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, "config", "lathe.json"), conf, 0o600); err != nil {
		p.b.Fatal(err)
	}
	return s
}

// cost is what a process took.
type cost struct {
	wall, cpu time.Duration
	wrote     int64 // bytes given to write calls, of any kind
	out       int64 // bytes of standard output
}

func (c *cost) add(d cost) {
	c.wall += d.wall
	c.cpu += d.cpu
	c.wrote += d.wrote
	c.out += d.out
}

// run runs a program to its end; env is added to a bare environment.
func (p *place) run(env []string, name string, args ...string) cost {
	p.b.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Join(p.root, "project")
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.root, "LATHE_HOME=" + p.home, "OPENCODE_DISABLE_MODELS_FETCH=1",
	}, env...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	if err := cmd.Start(); err != nil {
		p.b.Fatal(err)
	}
	// The process is left a zombie until its counters were read.
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != syscall.EINTR {
			break
		}
	}
	wall := time.Since(began)
	wrote := written(cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		p.b.Fatalf("%s %q: %v\n%s%s", name, args, err, out.String(), errs.String())
	}
	return cost{
		wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		wrote: wrote, out: int64(out.Len() + errs.Len()),
	}
}

// written returns how many bytes a process wrote, to files, pipes and sockets.
func written(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, "wchar: "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			return n
		}
	}
	return 0
}

// lathe runs the program.
func (p *place) lathe(args ...string) cost {
	p.b.Helper()
	bin, err := program()
	if err != nil {
		p.b.Fatal(err)
	}
	return p.run(nil, bin, args...)
}

// floor runs the floor against an address.
func (p *place) floor(at string) cost {
	p.b.Helper()
	self, err := os.Executable()
	if err != nil {
		p.b.Fatal(err)
	}
	return p.run([]string{asFloor + "=" + at}, self)
}

// report gives the mean of what n runs cost, and its ratio to the floor's.
func report(b *testing.B, n int, of string, got, base cost) {
	per := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(per(got.wall), "ms"+of)
	b.ReportMetric(per(got.cpu), "cpu-ms"+of)
	b.ReportMetric(float64(got.wall)/float64(max(1, base.wall)), "x-floor")
	b.ReportMetric(float64(got.cpu)/float64(max(1, base.cpu)), "x-floor-cpu")
}
