//go:build !linux

package shell

// This system does not say what a process waits for.
const canSeeWaiting = false

func (*process) waiting() (string, uint64) { return "", 0 }
