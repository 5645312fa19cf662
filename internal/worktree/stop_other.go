//go:build !unix

package worktree

import "os"

// stop ends git; it cannot be asked to here.
func stop(p *os.Process) error { return p.Kill() }
