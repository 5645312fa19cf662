package client

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// samePeer reports whether the other end is a process of the same user, or of root.
func samePeer(c net.Conn) bool {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return false
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return err == nil && credErr == nil && (int(cred.Uid) == os.Getuid() || cred.Uid == 0)
}
