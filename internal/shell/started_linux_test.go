package shell

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A process that leaves many dead orphans behind while it lives keeps none of them
// in the process table.
func TestLiveLeavesNoZombies(t *testing.T) {
	before := len(adopted())
	r := New(Options{})
	l, out := begin(t, r, t.TempDir(), `for i in {1..100}; do (setsid true &); done; echo ready; sleep 1000`, StartOptions{})
	out.await(t, "ready")
	eventually(t, "the dead are collected", func() bool { return len(adopted()) <= before+1 })
	l.Stop(noGrace)
}

func TestListeners(t *testing.T) {
	table := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1\n" +
		"   1: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 12 1\n" +
		"   2: 0100007F:1F92 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 13 1\nshort\n"
	if diff := cmp.Diff([]int{8080}, listeners([]byte(table), map[string]bool{"11": true, "12": true})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
