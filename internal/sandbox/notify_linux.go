//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel reports a refusal only to the program. So calls that change files are
// shown to lathe before the kernel decides: lathe notes which of them a policy
// refuses, and lets them continue, except those of lasting processes that it bars. A
// program that deceives it falsifies that note.

// maxRefusals limits what is noted about one process and everything it starts.
const maxRefusals = 64

// writeFlags are those of open(2) that change something.
const writeFlags = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// tellOpen makes the filter report opens that may change files. at is where the flags are.
func (f *bpf) tellOpen(nr uint32, at uint32) {
	f.inCase(nr, func(f *bpf) {
		f.load(at)
		f.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, writeFlags, 0, 1)
		f.ret(unix.SECCOMP_RET_USER_NOTIF)
	})
}

// teller is lathe's end of the filter.
type teller struct {
	*connections // nil: it has the machine's network
	policy       *Policy
	lasting      atomic.Bool
	roots        []string // directories that may be written
	shut         []string // paths below them that may not
	nested       *nested
	fd           int
	quit         int // an event that ends attend

	mu      sync.Mutex
	refused []Refusal
	seen    map[string]bool
	ended   chan struct{}
}

// passes carries the descriptor from the new process to lathe.
type passes struct {
	mine, its int
	msg       unix.Msghdr
	iov       unix.Iovec
	cmsg      [3]uint64 // a header, and the descriptor
	dot       [1]byte
}

// newPasses makes a pair of sockets.
func newPasses() (*passes, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	p := &passes{mine: fds[0], its: fds[1]}
	header := (*unix.Cmsghdr)(unsafe.Pointer(&p.cmsg[0]))
	header.Level, header.Type = unix.SOL_SOCKET, unix.SCM_RIGHTS
	header.SetLen(unix.CmsgLen(4))
	p.iov = unix.Iovec{Base: &p.dot[0]}
	p.iov.SetLen(1)
	p.msg = unix.Msghdr{Iov: &p.iov, Control: (*byte)(unsafe.Pointer(&p.cmsg[0]))}
	p.msg.SetIovlen(1)
	p.msg.SetControllen(unix.CmsgSpace(4))
	return p, nil
}

// add adds the step that passes the descriptor.
func (p *passes) add(prog *program) {
	prog.keep = append(prog.keep, p)
	prog.add("tell lathe of refusals", unix.SYS_SENDMSG, uintptr(p.its), uintptr(unsafe.Pointer(&p.msg)), 0)
}

// listener is where the filter's descriptor is to be written.
func (p *passes) listener() *uintptr { return (*uintptr)(unsafe.Pointer(&p.cmsg[2])) }

// take receives it.
func (p *passes) take() (int, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(p.mine, make([]byte, 1), oob, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, err
	}
	list, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(list) == 0 {
		return -1, unix.EBADMSG
	}
	fds, err := unix.ParseUnixRights(&list[0])
	if err != nil || len(fds) == 0 {
		return -1, unix.EBADMSG
	}
	return fds[0], nil
}

func (p *passes) close() {
	_ = unix.Close(p.mine)
	_ = unix.Close(p.its)
}

// notif is struct seccomp_notif, answer struct seccomp_notif_resp.
type notif struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type answer struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

const (
	ioctlRecv = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
	ioctlSend = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
	ioctlFlag = 0x40082104 // SECCOMP_IOCTL_NOTIF_SET_FLAGS
)

// newTeller starts a teller, which answers until all processes of the filter have ended.
func newTeller(policy *Policy, fd int, conns *connections) *teller {
	quit, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		quit = -1 // only a handover needs it
	}
	t := &teller{connections: conns, policy: policy, fd: fd, quit: quit, seen: map[string]bool{}, ended: make(chan struct{})}
	t.lasting.Store(policy.Lasting)
	t.roots = policy.existing(slices.Concat(policy.Write, policy.Given, devices))
	t.shut = policy.existing(policy.guarded())
	t.nested = newNested(policy)
	go func() {
		defer close(t.ended)
		attend(fd, quit, t.hear)
		t.mu.Lock()
		defer t.mu.Unlock()
		_ = unix.Close(fd)
		_ = unix.Close(quit)
		t.fd, t.quit = -1, -1
	}()
	return t
}

// share returns the filter's descriptor for another process.
func (t *teller) share() (*os.File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fd < 0 {
		return nil, nil
	}
	fd, err := unix.FcntlInt(uintptr(t.fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "refusals"), nil
}

// shareNetwork returns what keeps the process's servers published.
func (t *teller) shareNetwork() ([]*os.File, string, error) {
	if t.connections == nil {
		return nil, "", nil
	}
	t.connections.publish()
	t.connections.mu.Lock()
	open := t.connections.ports
	t.connections.mu.Unlock()
	if open == nil {
		return nil, "", nil
	}
	return open.share()
}

// stop ends the teller's work and waits for that.
func (t *teller) stop() {
	t.mu.Lock()
	if t.quit >= 0 {
		_, _ = unix.Write(t.quit, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
	t.mu.Unlock()
	<-t.ended
	if t.connections != nil {
		t.connections.close()
	}
}

// Attend answers a process's filter until the process and everything it started have
// ended; then it closes the file. It lets all calls continue. With what
// [Run.ShareNetwork] returned, the servers of the process stay published.
func Attend(f *os.File, network []*os.File, words string) {
	hear := func(*notif) (unix.Errno, bool) { return 0, false }
	if len(network) > 0 {
		if p, err := resumePorts(network, words); err == nil {
			defer p.close()
			c := &connections{ports: p}
			hear = func(req *notif) (unix.Errno, bool) {
				if req.nr == unix.SYS_LISTEN {
					c.listens(req)
				}
				return 0, false
			}
		}
	}
	attend(int(f.Fd()), -1, hear)
	_ = f.Close()
}

// hear notes a call, and returns the error with which it fails, or none, or reports that
// it will be answered later.
func (t *teller) hear(req *notif) (fails unix.Errno, later bool) {
	switch {
	case t.connections == nil:
		return t.note(req), false
	case req.nr == unix.SYS_LISTEN:
		t.listens(req)
	case req.nr == unix.SYS_CONNECT:
		ask := t.connects(req)
		if ask == nil {
			return 0, false
		}
		go func() { // ended by who is asked, with the command at the latest
			errno := ask()
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.fd >= 0 {
				reply(t.fd, req.id, errno)
			}
		}()
		return 0, true
	default:
		return t.note(req), false
	}
	return 0, false
}

// reply answers a reported call: it continues, or fails with an error.
func reply(fd int, id uint64, errno unix.Errno) {
	const goOn = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
	res := answer{id: id, flags: goOn}
	if errno != 0 {
		res = answer{id: id, err: -int32(errno)}
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlSend, uintptr(unsafe.Pointer(&res)))
}

func attend(fd, quit int, hear func(*notif) (fails unix.Errno, later bool)) {
	runtime.LockOSThread() // it waits in the kernel most of the time
	defer runtime.UnlockOSThread()
	const syncWakeUp = 1
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlFlag, syncWakeUp)
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(quit), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(poll, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || poll[1].Revents != 0 || n > 0 && poll[0].Revents&unix.POLLIN == 0:
			return
		}
		req := new(notif)
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlRecv, uintptr(unsafe.Pointer(req))); errno != 0 {
			continue // it was interrupted or ended in the meantime
		}
		if errno, later := hear(req); !later {
			reply(fd, req.id, errno)
		}
	}
}

// check looks at what a process made when it has ended or lasts from now on.
func (t *teller) check() []Refusal { return t.nested.check() }

// all returns what was noted.
func (t *teller) all() []Refusal {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.refused)
}

// note notes a call that the policy refuses, and says how it fails if only lathe refuses
// it.
func (t *teller) note(req *notif) (fails unix.Errno) {
	op, dirs, at := subject(req)
	if req.nr == unix.SYS_RENAMEAT2 && req.args[4]&unix.RENAME_EXCHANGE != 0 { // each goes to the other's place
		dirs, at = append(dirs, dirs[0]), append(at, at[0])
	}
	from := ""
	for i := range at {
		raw := readString(int(req.pid), uintptr(at[i]))
		if raw == "" && (op != "link" || i > 0) {
			continue // a link may be made of what is open
		}
		path, ok := t.allowed(req, dirs[i], raw, op == "write" || i == 0 && followsSource(req))
		two := op == "rename" || op == "link"
		c := change{op: op, path: path, from: from, whole: two || isSymlink(req.nr), away: two && i == 0}
		if from = path; t.barred(c) {
			fails, ok = unix.EACCES, false
		}
		if ok {
			continue
		}
		t.mu.Lock()
		if key := op + " " + path; !t.seen[key] && len(t.refused) < maxRefusals {
			t.seen[key] = true
			t.refused = append(t.refused, Refusal{Op: op, Path: path})
		}
		t.mu.Unlock()
	}
	return fails
}

// allowed returns the path that a call refers to, and whether the policy allows
// changing it.
func (t *teller) allowed(req *notif, dir int32, path string, follow bool) (string, bool) {
	if !filepath.IsAbs(path) {
		link := "/proc/" + strconv.Itoa(int(req.pid)) + "/cwd"
		if dir != unix.AT_FDCWD {
			link = "/proc/" + strconv.Itoa(int(req.pid)) + "/fd/" + strconv.Itoa(int(dir))
		}
		base, err := os.Readlink(link)
		if err != nil || !filepath.IsAbs(base) {
			return path, true
		}
		if path != "" {
			base += "/" + path
		}
		path = base
	}
	real := leads(req.pid, path, follow)
	for _, own := range []string{"/proc/", "/dev/fd/", "/dev/std"} { // mostly what a program has open
		if strings.HasPrefix(path, own) {
			return real, true
		}
	}
	if real == "" {
		return path, true // there is nothing to refuse
	}
	return real, strings.HasPrefix(real, "/dev/pts/") || t.writable(real)
}

func (t *teller) writable(path string) bool {
	return within(path, t.roots) && !within(path, t.shut)
}

// subject says what a call does and where its paths are, each with the
// directory it is relative to.
func subject(req *notif) (op string, dirs []int32, at []uint64) {
	a, here := req.args, int32(unix.AT_FDCWD)
	switch int(req.nr) {
	case unix.SYS_OPENAT, unix.SYS_OPENAT2:
		return "write", []int32{int32(a[0])}, []uint64{a[1]}
	case unix.SYS_MKDIRAT, unix.SYS_MKNODAT:
		return "create", []int32{int32(a[0])}, []uint64{a[1]}
	case unix.SYS_UNLINKAT:
		return "remove", []int32{int32(a[0])}, []uint64{a[1]}
	case unix.SYS_SYMLINKAT:
		return "create", []int32{int32(a[1])}, []uint64{a[2]}
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return "rename", []int32{int32(a[0]), int32(a[2])}, []uint64{a[1], a[3]}
	case unix.SYS_LINKAT:
		return "link", []int32{int32(a[0]), int32(a[2])}, []uint64{a[1], a[3]}
	case unix.SYS_TRUNCATE:
		return "write", []int32{here}, []uint64{a[0]}
	}
	return olderSubject(req)
}

// followsSource reports whether a call makes a link to where its first path leads.
func followsSource(req *notif) bool {
	return req.nr == unix.SYS_LINKAT && req.args[4]&unix.AT_SYMLINK_FOLLOW != 0
}

// readString reads a string of another process.
func readString(pid int, at uintptr) string {
	buf := make([]byte, unix.PathMax)
	first := int(4096 - at%4096) // the next page may not be mapped
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(first)
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: at, Len: first}}, 0)
	if err != nil {
		return ""
	}
	if i := bytes.IndexByte(buf[:n], 0); i >= 0 {
		return string(buf[:i])
	}
	local[0] = unix.Iovec{Base: &buf[n]}
	local[0].SetLen(len(buf) - n)
	more, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: at + uintptr(n), Len: len(buf) - n}}, 0)
	if i := bytes.IndexByte(buf[:n+max(more, 0)], 0); i >= 0 && err == nil {
		return string(buf[:i])
	}
	return ""
}
