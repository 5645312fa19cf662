package shell

import "golang.org/x/sys/unix"

const (
	sysPoll      = unix.SYS_POLL
	sysSelect    = unix.SYS_SELECT
	sysEpollWait = unix.SYS_EPOLL_WAIT
)
