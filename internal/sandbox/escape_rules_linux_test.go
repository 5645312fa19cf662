//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/permission"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

var update = flag.Bool("update", false, "rewrite testdata/levels.txt")

// TestEscapesByRules holds which level stops each attempt of the tables, as
// testdata/levels.txt lists it. Nothing is run: below the level files a command has the
// person's rights, and all that stops it is a question about its words.
func TestEscapesByRules(t *testing.T) {
	attempts := sandbox.Attempts()
	if len(attempts) < 300 {
		t.Errorf("only %d", len(attempts))
	}
	asks := judged(t)
	list := []string{"# The lowest level at which an attempt is stopped, with the rules that lathe begins with.", "# rules: a person is asked; none: it works at every level."}
	for _, a := range attempts {
		level := a.Confined
		if asks(a.Script) {
			level = "rules"
		}
		list = append(list, fmt.Sprintf("%-5s %s", level, a.Name))
	}
	slices.Sort(list[2:])
	got := strings.Join(slices.Compact(list), "\n") + "\n"
	const file = "testdata/levels.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("levels (-want +got; -update rewrites %s):\n%s", file, diff)
	}
}

// judged opens the arena's project where nothing is confined, and returns whether a
// command of a model would be asked about or refused there.
func judged(t *testing.T) func(script string) bool {
	t.Helper()
	base, home, vars := sandbox.NewArena(t)
	vars = append(vars, "HOME="+home, "LATHE_HOME="+t.TempDir(), "PATH=/usr/bin:/bin", "SHELL=/bin/bash", "LANG=C.UTF-8")
	getenv := func(name string) string { return shell.Getenv(vars, name) }
	paths, err := config.DefaultPaths(getenv)
	if err != nil {
		t.Fatal(err)
	}
	runner := shell.New(shell.Options{})
	rules := sandbox.RulesOnly
	inst, err := instance.Open(t.Context(), filepath.Join(base, "work"), instance.Options{
		Paths: paths, Getenv: getenv, Environ: vars, Log: slog.New(slog.DiscardHandler), Now: time.Now, Runner: runner,
		Publish: func(string, lathe.Event) {}, Sandbox: sandbox.Options{Most: &rules},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inst.Close() })
	agent, err := inst.Agents.Get("build")
	if err != nil {
		t.Fatal(err)
	}
	bash, ok := inst.Tools.Lookup("bash")
	if !ok {
		t.Fatal("no tool bash")
	}
	_ = runner.Close() // so that nothing can start
	asked, run := errors.New("asked"), errors.New("it would run")
	return func(script string) bool {
		input, err := json.Marshal(map[string]any{"command": script})
		if err != nil {
			t.Fatal(err)
		}
		var said error
		res, err := bash.Run(t.Context(), &tool.Call{SessionID: "ses_1", MessageID: "msg_1", CallID: "call_1", Agent: "build", Input: input,
			Ask: func(ctx context.Context, req tool.Request) error {
				one, done := context.WithCancelCause(ctx)
				done(asked) // whatever would wait for a person ends with that
				said = inst.Permission.Ask(one, permission.AskInput{SessionID: "ses_1", Request: req, Policy: agent.Policy()})
				if said == nil {
					return run // never: it is only judged
				}
				return said
			}})
		if _, ran := res.Metadata["exit"]; ran {
			t.Fatalf("it ran without a question of any kind:\n%s", script)
		}
		return said != nil || !errors.Is(err, run)
	}
}
