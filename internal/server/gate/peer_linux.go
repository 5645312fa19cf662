package gate

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// samePeer reports whether the other end is a process of the same user, or of root.
func samePeer(c net.Conn) bool {
	cred := peerCred(c)
	return cred != nil && (int(cred.Uid) == os.Getuid() || cred.Uid == 0)
}

// peerCred returns who made a connection over a unix socket, or nil.
func peerCred(c net.Conn) *unix.Ucred {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return nil
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil || credErr != nil {
		return nil
	}
	return cred
}
