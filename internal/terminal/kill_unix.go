//go:build unix

package terminal

import (
	"os/exec"
	"syscall"
)

// killGroup ends the program and its process group; a terminal's program leads
// a session, hence a group, of its own.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGHUP)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
