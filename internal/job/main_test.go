package job

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"lathe/internal/shell"
)

// TestMain lets the test program be its own supervisor, as lathe is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__supervise" {
		os.Exit(shell.SupervisorMain(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}
