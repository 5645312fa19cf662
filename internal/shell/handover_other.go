//go:build !linux

package shell

import (
	"errors"
	"os"
	"time"
)

func (p *process) handle() Handle { return Handle{} }
func handleOf(pid int) Handle     { return Handle{PID: pid} }

// PIDs, Ports, Wait and Stop find nothing: no process outlives lathe on this system.
func (h Handle) PIDs() []int               { return nil }
func (h Handle) Ports() []int              { return nil }
func (h Handle) Wait(<-chan struct{}) bool { return true }
func (h Handle) Stop(time.Duration) bool   { return true }

// KeptFile is for keepers, which this system has none of.
func KeptFile(int) (*os.File, error) { return nil, errors.ErrUnsupported }
