//go:build !linux

package shell

import (
	"os/exec"
	"strconv"
	"strings"
)

// Resident returns how many bytes processes have in memory together, where ps reports it.
func Resident(pids []int) (sum int64) {
	if len(pids) == 0 {
		return 0
	}
	list := make([]string, len(pids))
	for n, pid := range pids {
		list[n] = strconv.Itoa(pid)
	}
	out, _ := exec.Command("ps", "-o", "rss=", "-p", strings.Join(list, ",")).Output()
	for _, word := range strings.Fields(string(out)) {
		kib, _ := strconv.ParseInt(word, 10, 64)
		sum += kib << 10
	}
	return sum
}
