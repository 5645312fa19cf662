//go:build !linux

package shell

// Holds needs /proc: elsewhere nothing is known.
func (r *Runner) Holds(uint64) bool { return false }

// Started needs /proc too.
func (r *Runner) Started(int) bool { return false }
