//go:build !linux

package local

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

func bootID() string { return "" }

func processStart(int) string { return "" }

// processLives reports whether the process exists. Finding it is enough on
// Windows, where that opens it; elsewhere it always succeeds.
func processLives(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if runtime.GOOS == "windows" {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
