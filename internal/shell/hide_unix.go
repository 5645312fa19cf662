//go:build unix && !linux

package shell

import (
	"os"
	"strconv"
	"syscall"
)

// HideSelf does nothing on this system.
func HideSelf() error { return nil }

// closeOnExec keeps commands from inheriting what lathe has open, also what lathe
// inherited itself.
func closeOnExec() {
	names, _ := os.ReadDir("/dev/fd")
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
