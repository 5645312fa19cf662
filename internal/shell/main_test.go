package shell

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test program be its own supervisor, as lathe is, and a lathe
// that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__supervise" {
		os.Exit(SupervisorMain(os.Args[2:]))
	}
	if dir := os.Getenv("SHELL_TEST_VICTIM"); dir != "" {
		victim(dir)
	}
	if dir := os.Getenv("SHELL_TEST_LONELY"); dir != "" {
		lonely(dir)
	}
	if os.Getenv("SHELL_TEST_HIDDEN") != "" {
		hidden()
	}
	goleak.VerifyTestMain(m)
}

// hidden is a lathe that hides itself and runs a command which looks for its secrets.
func hidden() {
	if err := HideSelf(); err != nil {
		panic(err)
	}
	r := New(Options{})
	_, err := r.Run(context.Background(), Command{
		Dir: "/", Shell: "/bin/bash", Env: []string{"PATH=" + os.Getenv("PATH")},
		Script: "tr '\\0' '\\n' < /proc/$PPID/environ; [ $EUID = 0 ] || cat /proc/$PPID/fd/1 /proc/$PPID/mem | head -c1; echo end",
		Output: func(p []byte) { os.Stdout.Write(p) },
	})
	if err == nil && os.Getenv("SHELL_TEST_HIDDEN") != "pass-word" {
		panic("lathe lost its own environment")
	}
	os.Exit(0)
}
