package shell

import (
	"os"
	"testing"
)

// A shell that runs before it is marked, as on a busy machine, can start what has no
// mark.
func TestMarkedBeforeItRuns(t *testing.T) {
	m := mark{instance: processTree().instance, call: 1 << 19}
	state := byte(0)
	attr := &os.ProcAttr{Dir: t.TempDir(), Env: m.env(nil), Sys: sysAttr()}
	proc, held, err := startMarked("/bin/sh", []string{"sh", "-c", "exit 3"}, attr, func(pid int) {
		st, _ := readStat(pid)
		state = st.state
		m.set(pid)
	})
	if err != nil {
		t.Fatal(err)
	}
	ended, err := proc.Wait()
	if err != nil || ended.ExitCode() != 3 {
		t.Errorf("%v, %v", ended, err)
	}
	if !held {
		t.Skip("tracing is not allowed here")
	}
	if state != 't' {
		t.Errorf("state %q while it is marked, want stopped by its tracer", state)
	}
}

// What ends before its first instruction is nobody's but its owner's to collect.
func TestEndsBeforeItRuns(t *testing.T) {
	proc, _, err := startMarked("/bin/sh", []string{"sh", "-c", "exit 3"}, &os.ProcAttr{Sys: sysAttr()}, func(pid int) {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if ended, err := proc.Wait(); err != nil || signalName(ended) != "killed" {
		t.Errorf("%v, %v", ended, err)
	}
}
