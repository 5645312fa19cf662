package shell

import (
	"bytes"
	"os"
	"strconv"
)

// Resident returns how many bytes processes have in memory together.
func Resident(pids []int) (sum int64) {
	for _, pid := range pids {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		fields := bytes.Fields(data)
		if err != nil || len(fields) < 2 {
			continue
		}
		pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		sum += pages * int64(os.Getpagesize())
	}
	return sum
}
