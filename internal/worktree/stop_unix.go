//go:build unix

package worktree

import (
	"os"
	"syscall"
)

// stop asks git to end, so that it can clean up what is half done.
func stop(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
