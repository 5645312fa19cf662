package shell

import "testing"

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
