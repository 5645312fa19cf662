package gate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"lathe/internal/netguard"
	"lathe/internal/shell"
)

// callerFault says why the other end of a connection may not come in, or "".
func callerFault(c net.Conn, commands Commands, password bool) string {
	if in, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = in.NetConn()
	}
	if cred := peerCred(c); cred != nil {
		if commands != nil && (int(cred.Pid) == os.Getpid() || commands.Started(int(cred.Pid))) {
			return fromCommand
		}
		return ""
	}
	ours, theirs := addrPort(c.LocalAddr()), addrPort(c.RemoteAddr())
	if !ours.IsValid() || !theirs.IsValid() {
		return ""
	}
	uid, from := holderOf(theirs, ours, commands, heldHere)
	switch {
	case from == heldByCommand, from == heldNoMore && netguard.ThisMachine(theirs.Addr()):
		return fromCommand
	case from == heldByPerson && !password && uid != os.Getuid() && uid != 0:
		return fromUser
	}
	return ""
}

// TellsUsers reports whether the server can tell this machine's users apart, and so
// refuse the others where it has no password: the kernel may not say who made a
// connection.
func TellsUsers() bool {
	nobody := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 1)
	_, _, err := socketOf(nobody, nobody)
	return err == nil || errors.Is(err, unix.ENOENT)
}

type holder int

const (
	heldUnknown   holder = iota // the kernel does not say
	heldByCommand               // the kernel does not say by whom, while a command hides what it holds
	// heldNoMore is a socket that was closed at once: such a sender wants neither
	// to be seen nor to hear the answer.
	heldNoMore
	heldByPerson
)

// A holder that is not seen is looked for again: it may be ending, which closes
// the socket soon, or be moving in the process tree.
const (
	seekFor   = 500 * time.Millisecond
	seekPause = 5 * time.Millisecond
)

// holderOf finds out who has the other end of a connection, and which user made it.
// A socket that this process itself has open, according to here, counts as a
// command's.
func holderOf(theirs, ours netip.AddrPort, commands Commands, here func(inode uint32) bool) (uid int, from holder) {
	for begin := time.Now(); ; time.Sleep(seekPause) {
		inode, owner, err := socketOf(theirs, ours)
		switch {
		case errors.Is(err, unix.ENOENT) || err == nil && inode == 0:
			return int(owner), heldNoMore
		case err != nil:
			return 0, heldUnknown
		case commands == nil:
			return int(owner), heldByPerson
		case here(inode):
			return int(owner), heldByCommand
		}
		found := commands.Holder(uint64(inode))
		switch found {
		case shell.HeldByCommand:
			return int(owner), heldByCommand
		case shell.HeldByOther:
			return int(owner), heldByPerson
		case shell.HeldUnasked:
			// The last command may have ended in between. Its sockets ended with it.
			if again, _, err := socketOf(theirs, ours); err != nil || again == 0 {
				return int(owner), heldNoMore
			}
			return int(owner), heldByPerson
		}
		if time.Since(begin) < seekFor {
			continue
		}
		if found == shell.HeldHidden {
			return int(owner), heldByCommand
		}
		return int(owner), heldByPerson
	}
}

// heldHere reports whether this process itself has the socket open: then one of
// its tools made the connection.
func heldHere(inode uint32) bool {
	d, err := os.Open("/proc/self/fd")
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		var st unix.Stat_t
		if err == nil && unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFSOCK && st.Ino == uint64(inode) {
			return true
		}
	}
	return false
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
