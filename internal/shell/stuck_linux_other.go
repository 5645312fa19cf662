//go:build linux && !amd64

package shell

// System calls that newer architectures do not have, each with a number that no call has.
const (
	sysPoll      = -1
	sysSelect    = -2
	sysEpollWait = -3
)
