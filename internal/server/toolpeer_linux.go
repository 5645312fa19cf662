package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// callerFault says why the other end of a connection may not come in, or "".
func callerFault(c net.Conn, commands Commands, password bool) string {
	if in, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = in.NetConn()
	}
	if cred := peerCred(c); cred != nil {
		if commands != nil && commands.Started(int(cred.Pid)) {
			return fromCommand
		}
		return ""
	}
	ours, theirs := addrPort(c.LocalAddr()), addrPort(c.RemoteAddr())
	if !ours.IsValid() || !theirs.IsValid() {
		return ""
	}
	inode, uid, err := socketOf(theirs, ours)
	held := err == nil && commands != nil && commands.Holds(uint64(inode))
	if err == nil && !held { // whoever was not found must be there still
		inode, uid, err = socketOf(theirs, ours)
	}
	switch {
	case held:
		return fromCommand
	case errors.Is(err, unix.ENOENT) || err == nil && inode == 0:
		// Closed already: who sent this does not want to be seen, or to hear the answer.
		if theirs.Addr().IsLoopback() {
			return fromCommand
		}
	case err == nil && !password && int(uid) != os.Getuid() && uid != 0:
		return fromUser
	}
	return ""
}

func addrPort(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

// Layout of a question and an answer of the kernel's socket diagnosis, sock_diag(7).
const (
	diagRequest  = 16 + 56
	diagUID      = 16 + 4 + 48 + 12
	diagInode    = diagUID + 4
	diagAnswer   = diagInode + 4
	diagByFamily = 20
)

// socketOf asks the kernel for the TCP socket of this machine that has these ends,
// seen from its side. The inode is 0 when no process has it any more; the error is
// ENOENT when there is none.
func socketOf(own, other netip.AddrPort) (inode, uid uint32, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, 0, fmt.Errorf("socket diagnosis: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return 0, 0, fmt.Errorf("socket diagnosis: %w", err)
	}
	if err := unix.Sendto(fd, diagQuestion(own, other), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, 0, fmt.Errorf("socket diagnosis: %w", err)
	}
	buf := make([]byte, 8<<10)
	n, _, err := unix.Recvfrom(fd, buf, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("socket diagnosis: %w", err)
	}
	return diagResult(buf[:n])
}

func diagQuestion(own, other netip.AddrPort) []byte {
	var b bytes.Buffer
	le := func(v any) { _ = binary.Write(&b, binary.NativeEndian, v) } // a buffer does not fail
	le(uint32(diagRequest))
	le([]uint16{diagByFamily, unix.NLM_F_REQUEST})
	le([]uint32{1, 0})
	family := byte(unix.AF_INET)
	if own.Addr().Is6() {
		family = unix.AF_INET6
	}
	le([]byte{family, unix.IPPROTO_TCP, 0, 0})
	le(^uint32(0)) // in any state
	_ = binary.Write(&b, binary.BigEndian, []uint16{own.Port(), other.Port()})
	for _, a := range []netip.AddrPort{own, other} {
		var raw [16]byte
		copy(raw[:], a.Addr().AsSlice())
		le(raw)
	}
	le([]uint32{0, ^uint32(0), ^uint32(0)}) // any interface, no cookie
	return b.Bytes()
}

func diagResult(b []byte) (inode, uid uint32, err error) {
	if len(b) < 20 {
		return 0, 0, errors.New("socket diagnosis: short answer")
	}
	switch binary.NativeEndian.Uint16(b[4:]) {
	case unix.NLMSG_ERROR:
		return 0, 0, fmt.Errorf("socket diagnosis: %w", unix.Errno(-int32(binary.NativeEndian.Uint32(b[16:]))))
	case diagByFamily:
		if len(b) >= diagAnswer {
			return binary.NativeEndian.Uint32(b[diagInode:]), binary.NativeEndian.Uint32(b[diagUID:]), nil
		}
	}
	return 0, 0, errors.New("socket diagnosis: an answer of another kind")
}
