package builtin

import (
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/shell"
)

// A command that waits for a terminal ends within seconds, and the model is told why.
func TestBashThatWaitsForATerminal(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3, which makes the terminal of this test")
	}
	r := newRig(t, func(e *Env) { e.Runner = shell.New(shell.Options{Patience: 50 * time.Millisecond}) })
	res := r.ok("bash", m{"command": python + ` -c 'import pty; print("asks", flush=True); pty.spawn("cat")'`, "timeout": 600000})
	want := "asks\n\n<bash_metadata>\nThe command was stopped: cat waits for keys, and nobody is there to type. " +
		"Give everything as arguments or input, or run the program in a way that asks nothing.\n</bash_metadata>"
	if d := cmp.Diff(want, res.Output); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
	if res.Metadata["exit"] != nil {
		t.Errorf("exit %v", res.Metadata["exit"])
	}
}
