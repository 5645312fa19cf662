package shell

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A child that stays is seen in every look, however many others end meanwhile: the
// kernel's list leaves out children when those before them are collected.
func TestAdoptedMissesNone(t *testing.T) {
	runtime.LockOSThread() // the kernel has a list for each thread
	defer runtime.UnlockOSThread()
	for round := range 10 {
		var wg sync.WaitGroup
		in, end, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			other := exec.Command("/bin/cat")
			other.Stdin = in // they end together, while looks go on
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() { _ = other.Wait() })
		}
		stays := exec.Command("/bin/sleep", "1000")
		if err := stays.Start(); err != nil {
			t.Fatal(err)
		}
		in.Close()
		end.Close()
		ended := make(chan struct{})
		go func() { wg.Wait(); close(ended) }()
		for !closed(ended) {
			if pids := adopted(); !slices.Contains(pids, stays.Process.Pid) {
				t.Errorf("round %d: %d is not among %v", round, stays.Process.Pid, pids)
				break
			}
		}
		<-ended
		_ = stays.Process.Kill()
		_ = stays.Wait()
	}
}

// A list of children counts only if all on it are there afterwards: else the kernel may
// have passed over others.
func TestListWhole(t *testing.T) {
	reads := [][]int{{1, 2}, {2, 5}, {2, 4, 5}, {9}}
	there := []int{2, 4, 5}
	gone := map[int]bool{}
	got := listWhole(func() []int {
		read := reads[0]
		reads = reads[1:]
		return read
	}, func(pid int) bool {
		if pid == 5 && !gone[5] { // it ends after the second read
			gone[5] = true
			return false
		}
		return slices.Contains(there, pid)
	})
	if diff := cmp.Diff(there, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
