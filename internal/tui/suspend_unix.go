//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"
)

const canSuspend = true

// stopProcess stops the process group, as the shell expects of ctrl+z, and
// returns when it continues.
func stopProcess() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGCONT)
	defer signal.Stop(c)
	if syscall.Kill(0, syscall.SIGTSTP) == nil {
		<-c
	}
}
