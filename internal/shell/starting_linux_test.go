package shell

import (
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStartedIsNotCollected: a process that ends as soon as it is started, while strays are
// looked for, keeps its exit code for who started it; nobody waits for a stray.
func TestStartedIsNotCollected(t *testing.T) {
	tr := processTree()
	m := mark{tr.instance, tr.calls.Add(1)}
	for _, test := range []struct{ starting, collected bool }{{true, false}, {false, true}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		done := func() {}
		if test.starting {
			done = tr.starting.begin()
		}
		proc, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "read x; exit 3"}, &os.ProcAttr{Files: []*os.File{r}, Sys: &syscall.SysProcAttr{Setsid: true}})
		if err != nil {
			t.Fatal(err)
		}
		m.set(proc.Pid)
		r.Close()
		w.Close()
		if err := unix.Waitid(unix.P_PID, proc.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		tr.strays(m)
		done()
		state, err := proc.Wait()
		if collected := err != nil; collected != test.collected {
			t.Errorf("starting %t: collected %t, %v", test.starting, collected, state)
		}
	}
}
