//go:build !linux

package shell

// Holder needs /proc: elsewhere nothing is known.
func (r *Runner) Holder(uint64) Holder { return HeldUnasked }

// Started needs /proc too.
func (r *Runner) Started(int) bool { return false }
