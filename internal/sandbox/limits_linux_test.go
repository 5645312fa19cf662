//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A program that starts itself again and again comes to an end, and lathe goes on.
func TestLimitOfProcesses(t *testing.T) {
	if Detect() < Full {
		t.Skip(Missing())
	}
	b := NewBox(Options{Limits: Limits{Processes: fewestProcesses}})
	defer b.Close()
	w := newWorld(t)
	w.attacker()
	if got := w.run(b, w.policy, `SANDBOX_TEST_ATTACK=forks exec $SELF`); got.out != "resource temporarily unavailable\n" {
		t.Errorf("400 processes were started at once: %q", got.out)
	}
	again := NewBox(Options{Limits: Limits{Processes: fewestProcesses}})
	defer again.Close()
	if got := w.run(again, w.policy, "true; echo well"); got.out != "well\n" {
		t.Errorf("another box: %q", got.out)
	}
}

// forks starts more processes than there may be.
func forks() int {
	var started []*os.Process
	defer func() {
		for _, p := range started {
			_ = p.Kill()
			_, _ = p.Wait()
		}
	}()
	for range 400 {
		p, err := os.StartProcess("/bin/sleep", []string{"sleep", "1000"}, &os.ProcAttr{})
		if err != nil {
			fmt.Println(errors.Unwrap(err))
			return 1
		}
		started = append(started, p)
	}
	fmt.Println("all were started")
	return 0
}

// Memory and files are bounded for each process, at each level.
func TestLimitsOfAProcess(t *testing.T) {
	for _, level := range []Level{Full, Files} {
		if Detect() < level {
			t.Skip(Missing())
		}
		b := NewBox(Options{Most: &level, Limits: Limits{Memory: 64 << 20, Files: 100}})
		defer b.Close()
		w := newWorld(t)
		got := w.run(b, w.policy, `ulimit -n; ulimit -Hn; (x=$(head -c 200000000 /dev/zero | tr '\0' x); echo hog) 2>&1 | grep -c hog; ulimit -Hd 100000 2>/dev/null && echo raised; true`)
		if diff := cmp.Diff("100\n100\n0\n", got.out); diff != "" {
			t.Errorf("%v (-want +got):\n%s", level, diff)
		}
	}
}

// Nothing is bounded that programs need: by default memory and files are as lathe's own.
func TestLimitsByDefault(t *testing.T) {
	var l Limits
	if n := l.Most(); n < usualProcesses {
		t.Error(n)
	}
	p := newProgram()
	l.limit(p, Files)
	if len(p.steps) != 0 {
		t.Errorf("%d steps", len(p.steps))
	}
}
