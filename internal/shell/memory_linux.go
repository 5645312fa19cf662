package shell

import (
	"os"
	"strconv"
	"strings"
)

// outOfMemory counts the processes that the kernel has ended since the machine was
// started because there was no memory left.
func outOfMemory() uint64 {
	raw, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	return countOf(string(raw), "oom_kill")
}

// countOf returns a counter of a table of names and numbers.
func countOf(table, name string) uint64 {
	_, rest, ok := strings.Cut("\n"+table, "\n"+name+" ")
	if !ok {
		return 0
	}
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
	return n
}
