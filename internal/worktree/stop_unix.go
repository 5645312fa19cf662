//go:build unix

package worktree

import (
	"os"
	"os/exec"
	"syscall"
)

// stop asks git to end, so that it can clean up what is half done.
func stop(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// apart starts git in a session of its own, without a terminal that ssh could ask on. Stopping
// it then stops what it has started, too.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
