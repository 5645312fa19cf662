//go:build !linux

package shell

import (
	"time"

	"lathe/internal/sandbox"
)

const canSupervise = false

// mark is a Linux notion; elsewhere the process group has to do.
type mark struct{ instance, call uint64 }

func newInstance() uint64               { return 1 }
func instanceName(uint64) string        { return "1" }
func (mark) env(base []string) []string { return base }
func (mark) set(int)                    {}
func (mark) setOwn() bool               { return false }
func (*tree) setLate(mark, int)         {}
func (mark) limit() (l sandbox.Limit)   { return l }
func adoptOrphans(bool)                 {}

// sweep kills the group, without knowing what was in it.
func (p *process) sweep(time.Duration) []string {
	p.signalTree(true)
	return nil
}

// SupervisorMain does nothing on this system: a killed lathe leaves behind what
// its commands started.
func SupervisorMain([]string) int { return 0 }
