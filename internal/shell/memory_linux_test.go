package shell

import (
	"os"
	"testing"
)

func TestCountOf(t *testing.T) {
	table := "pgfault 12\noom_kill_x 7\noom_kill 3\nlast 1\n"
	for name, want := range map[string]uint64{"pgfault": 12, "oom_kill": 3, "last": 1, "none": 0, "kill": 0} {
		if got := countOf(table, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if raw, err := os.ReadFile("/proc/vmstat"); err == nil && countOf(string(raw), "pgfault") == 0 {
		t.Error("the kernel's own table is not read")
	}
}

func BenchmarkOutOfMemory(b *testing.B) {
	for b.Loop() {
		outOfMemory()
	}
}
