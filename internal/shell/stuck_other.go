//go:build !linux

package shell

// What a process waits for is not told by this system.
const canSeeWaiting = false

func (*process) waiting() (string, uint64) { return "", 0 }
