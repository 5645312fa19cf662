//go:build !linux

package shell

func outOfMemory() uint64 { return 0 }
