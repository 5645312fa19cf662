//go:build !unix

package worktree

import (
	"os"
	"os/exec"
)

// stop kills git, which cannot be asked to stop on this system.
func stop(p *os.Process) error { return p.Kill() }

func apart(*exec.Cmd) {}
