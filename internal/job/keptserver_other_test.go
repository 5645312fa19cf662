//go:build !linux

package job

// greet is for a test of Linux.
func greet() int { return 2 }
