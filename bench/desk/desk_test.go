package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"lathe/internal/cli"
	"lathe/internal/cli/console"
	"lathe/internal/shell"
)

// asLathe makes the test binary lathe; its first argument may make it the supervisor.
const (
	asLathe   = "LATHE_DESK_MAIN"
	supervise = "__supervise"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == supervise:
		os.Exit(shell.SupervisorMain(os.Args[2:]))
	case os.Getenv(asLathe) != "":
		os.Exit(lathe())
	}
	os.Exit(m.Run())
}

func lathe() int {
	self, err := os.Executable()
	if err != nil {
		return console.ExitFailed
	}
	dir, err := os.Getwd()
	if err != nil {
		return console.ExitFailed
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	return cli.Main(console.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Dir: dir, Getenv: os.Getenv, Environ: os.Environ(),
		Supervisor: []string{self, supervise}, Now: time.Now, Signals: signals, Exit: os.Exit,
	})
}

// TestDesk plays every mistake against lathe and holds the goal: the work is done, at most
// one step is lost, and nothing is silent.
func TestDesk(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{name: "lathe", path: self, env: append([]string{asLathe + "=1"}, latheEnv...), strict: true, limit: time.Minute}
	for i := range scenarios {
		s := &scenarios[i]
		t.Run(s.class+"/"+s.name, func(t *testing.T) {
			t.Parallel()
			r := result{right: p.play(t.Context(), s, false), wrong: p.play(t.Context(), s, true)}
			if err := r.missed(); err != nil {
				t.Errorf("%v\nwithout it:\n%v\nwith it:\n%v", err, r.right.log, r.wrong.log)
			}
		})
	}
}

// TestScenarios holds that the measure is as wide as it says and that its patterns are
// patterns: each mistake has a name of its own and a class of several.
func TestScenarios(t *testing.T) {
	names, classes := map[string]bool{}, map[string]int{}
	for i := range scenarios {
		s := &scenarios[i]
		if names[s.class+s.name] {
			t.Errorf("%s: %s is there twice", s.class, s.name)
		}
		names[s.class+s.name] = true
		classes[s.class]++
	}
	if len(names) < 45 {
		t.Errorf("%d mistakes, at least 45 are wanted", len(names))
	}
	for class, n := range classes {
		if n < 3 {
			t.Errorf("%s has %d mistakes", class, n)
		}
	}
}

// TestJudge holds how a result is taken: done, told, of no use or silent.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		result                      string
		done, told, useless, silent bool
	}{
		{result: "package main", done: true},
		{result: "error: filePath is missing", told: true},
		{result: "error", useless: true},
		{result: "fine", silent: true},
	} {
		m := &model{}
		done := m.judge(tt.result, "package", "filePath")
		if done != tt.done || len(m.untold) > 0 != tt.useless || len(m.silent) > 0 != tt.silent {
			t.Errorf("%q: done %v, untold %v, silent %v", tt.result, done, m.untold, m.silent)
		}
	}
	for _, s := range []struct {
		r    result
		want string
	}{
		{result{outcome{steps: 2}, outcome{steps: 2}}, ""},
		{result{outcome{steps: 2}, outcome{steps: 3, untold: []string{"x"}}}, ""},
		{result{outcome{steps: 2}, outcome{steps: 4}}, "cost 2 steps"},
		{result{outcome{steps: 2}, outcome{steps: 2, silent: []string{"x"}}}, "nothing told"},
		{result{outcome{steps: 2}, outcome{steps: 2, err: filepath.ErrBadPattern}}, "not done"},
		{result{outcome{steps: 2, err: filepath.ErrBadPattern}, outcome{steps: 2}}, "without the mistake"},
	} {
		err := s.r.missed()
		if (err == nil) != (s.want == "") || err != nil && !regexp.MustCompile(s.want).MatchString(err.Error()) {
			t.Errorf("%+v: %v, want %q", s.r, err, s.want)
		}
	}
}
