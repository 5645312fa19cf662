package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"lathe"
	"lathe/internal/shell"
)

// TestMain lets the test program be its own supervisor and keeper, as lathe is, and a
// lathe that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__supervise" {
		os.Exit(shell.SupervisorMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "__keep" {
		os.Exit(KeeperMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "__greet" {
		os.Exit(greet())
	}
	if dir := os.Getenv("JOB_TEST_VICTIM"); dir != "" {
		victim(dir)
	}
	goleak.VerifyTestMain(m)
}

// victim is a lathe with two jobs, of which one was handed over. It is killed.
func victim(dir string) {
	exe, _ := os.Executable()
	runner := shell.New(shell.Options{Supervisor: []string{exe, "__supervise"}})
	m := NewManager(Options{Runner: runner, Keepers: Keepers{Dir: filepath.Join(dir, "jobs"), Args: []string{exe, "__keep"}}})
	start := func(id string) *Job {
		j, err := m.Start(Start{
			Session: lathe.SessionID(id),
			Command: shell.Command{Script: "echo ready; exec sleep 1000", Dir: dir, Shell: "/bin/bash", Env: os.Environ()},
		})
		if err != nil {
			panic(err)
		}
		j.Look(context.Background(), until("ready"))
		return j
	}
	kept, other := start("ses_a"), start("ses_b")
	if _, err := m.HandOver(kept); err != nil {
		panic(err)
	}
	fmt.Println(kept.Info().PID, other.Info().PID)
	select {}
}
