package shell

import (
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
	goleak.VerifyTestMain(m)
}
