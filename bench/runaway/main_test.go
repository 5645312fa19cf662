//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"lathe/internal/cli"
	"lathe/internal/cli/console"
	"lathe/internal/shell"
)

const (
	asLathe   = "LATHE_RUNAWAY_CHILD" // makes the test binary be lathe
	supervise = "__supervise"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == supervise:
		os.Exit(shell.SupervisorMain(os.Args[2:]))
	case os.Getenv(asLathe) == "":
		os.Exit(m.Run())
	}
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	os.Exit(cli.Main(console.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Dir: dir, Getenv: os.Getenv, Environ: os.Environ(),
		Supervisor: []string{os.Args[0], supervise}, Now: time.Now, Signals: make(chan os.Signal), Exit: os.Exit,
	}))
}

// A run whose provider never ends its answer takes at most four times the bound of
// an answer more than one that says a word. What came is printed, and why no more did.
func TestPeak(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]result{}
	for _, a := range answers() {
		if strings.HasPrefix(a.name, "arguments of") { // carried out, not bounded
			continue
		}
		r, err := measure(self, "default", a, asLathe+"=1")
		if err != nil {
			t.Fatal(err)
		}
		t.Log(r)
		results[a.name] = r
		if endless := a.again != "" && a.times == 0; endless && !strings.Contains(r.told, "does not end") && !strings.Contains(r.told, "are larger than") {
			t.Errorf("%s: why it ended is not told: %s", a.name, r.told)
		}
	}
	idle := results["hello"].peak
	if idle == 0 {
		t.Fatal("no memory measured")
	}
	for name, r := range results {
		if r.peak > idle+4*bound {
			t.Errorf("%s: %d MB, %d MB when nothing happens", name, r.peak>>20, idle>>20)
		}
	}
	for name, size := range map[string]int64{"text, no limit": bound - 20_000, "a text of 31 MB": 31_000_000 - 1} {
		if n := results[name].printed; n < size || n > bound {
			t.Errorf("%s: %d bytes of the answer were printed", name, n)
		}
	}
}

// A server takes as little, whether the answer is waited for over HTTP or clients are
// sent whole parts while it comes, and gives it back afterwards.
func TestServerPeak(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, listeners := range []int{0, 1, 5} {
		for _, a := range answers() {
			if a.name != "text, no limit" && a.name != "a text of 31 MB" && (a.name != "reasoning, no limit" || listeners != 1) {
				continue
			}
			s, err := serve(self, listeners, a, asLathe+"=1")
			if err != nil {
				t.Fatal(err)
			}
			t.Log(s)
			if s.answer < 31_000_000 || listeners > 0 && s.sent < int64(listeners)*31_000_000 {
				t.Errorf("%s: an answer of %d bytes, events of %d", s.name, s.answer, s.sent)
			}
			if s.peak > s.idle+4*bound+int64(listeners)*bound/10 {
				t.Errorf("%s: %d MB at most, %d MB before", s.name, s.peak>>20, s.idle>>20)
			}
			if s.after > s.idle+bound {
				t.Errorf("%s: %d MB are kept, %d MB before", s.name, s.after>>20, s.idle>>20)
			}
		}
	}
}
