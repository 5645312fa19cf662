//go:build !linux

package shell

// Wrote is not known on this system.
func (l *Process) Wrote() (n int64, ok bool) { return 0, false }
