package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A storm of short children, orphans of all kinds, leaves no dead process that
// lathe would have to collect.
func TestNoZombies(t *testing.T) {
	before := adopted()
	r := New(Options{})
	run(t, t.Context(), r, Command{Script: `for i in {1..150}; do (true & (true &) ; (setsid true &) ; (env -i setsid /bin/true &)) & done; wait`})
	if diff := cmp.Diff(before, adopted()); diff != "" {
		t.Errorf("children that stay (-want +got):\n%s", diff)
	}
}

// What a person started, in a terminal say, lives on when it leaves its parent while
// a command runs.
func TestPeoplesDaemonsLive(t *testing.T) {
	r := New(Options{})
	if !r.ownLimit {
		t.Skip("this system limits RLIMIT_RTTIME")
	}
	dir := t.TempDir()
	daemon := func([]byte) {
		cmd := exec.Command("/bin/bash", "-c", `(setsid bash -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 &); until [ -s pid ]; do :; done`)
		cmd.Dir = dir
		if err := cmd.Run(); err != nil {
			t.Error(err)
		}
	}
	_, exit := run(t, t.Context(), r, Command{Script: "echo go", Output: daemon})
	if exit.Leftover != nil {
		t.Errorf("ended: %v", exit.Leftover)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(raw))
	if st, ok := readStat(pidIn(t, pid)); !ok || st.dead {
		t.Error("a person's process was ended with a command")
	}
	proc, _ := os.FindProcess(pidIn(t, pid))
	_ = proc.Kill()
	collectSoon(t, pidIn(t, pid))
}

func pidIn(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func collectSoon(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "the daemon is gone", func() bool { return collect(pid) })
}

// The limits of a command and of lathe are in one order, also for a lathe that runs
// in a command of another.
func TestLimitsAreOrdered(t *testing.T) {
	outer := mark{instance: newInstance(), call: 7}
	if !(outer.value() < outer.ceiling() && outer.ceiling() < outer.own()) {
		t.Errorf("%x %x %x", outer.value(), outer.ceiling(), outer.own())
	}
	for _, hard := range []uint64{outer.ceiling(), markBit | 5<<callBits, markBit | 1<<callBits} {
		inner := mark{instance: instanceBelow(hard)}
		if inner.instance%2 != 1 || inner.instance > maxInstance {
			t.Errorf("instance %x", inner.instance)
		}
		if hard > markBit|4<<callBits && inner.own() > hard {
			t.Errorf("lathe's limit %x is above the hard limit %x", inner.own(), hard)
		}
	}
}
