//go:build linux && !amd64

package shell

// Calls that newer architectures do not have, each a number of none.
const (
	sysPoll      = -1
	sysSelect    = -2
	sysEpollWait = -3
)
