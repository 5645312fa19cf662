//go:build amd64 || arm64

package sandbox

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// refusedCalls are system calls that no program of a project needs: they load code into
// the kernel, change mounts or clocks, keep keys, or have often been a way out.
var refusedCalls = []uint32{
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSMOUNT,
	unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_OPEN_TREE, openTreeAttr, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS, fileSetattr,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_SYSLOG,
}

// Calls that golang.org/x/sys does not name yet; they have the same number on all architectures.
const (
	openTreeAttr = 467 // open_tree and mount_setattr in one
	fileSetattr  = 469 // flags such as immutable, by path
)

// absentCalls are refused as if the kernel did not have them, so that programs do
// without them. No filter sees what goes through io_uring.
var absentCalls = []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}

// Return values of a filter.
const (
	retAllow = unix.SECCOMP_RET_ALLOW
	retPerm  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	retNoSys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	retAFam  = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
)

// Offsets in the data that a filter sees, on little-endian machines.
const (
	dataNr   = 0
	dataArch = 4
	dataArg0 = 16
	dataArg1 = 24
	dataArg2 = 32
)

// tellingCalls change files; see teller.
var tellingCalls = append([]uint32{unix.SYS_OPENAT2, unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_UNLINKAT, unix.SYS_SYMLINKAT, unix.SYS_RENAMEAT,
	unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_TRUNCATE}, olderCalls...)

// filter returns the seccomp filter, tellingFilter one that reports calls that change
// files to lathe, and netFilter one that reports servers and connections, too.
var (
	filter        = sync.OnceValue(func() []unix.SockFilter { return makeFilter(nil) })
	tellingFilter = sync.OnceValue(func() []unix.SockFilter { return makeFilter(tellingCalls) })
	netFilter     = sync.OnceValue(func() []unix.SockFilter {
		return makeFilter(append([]uint32{unix.SYS_CONNECT, unix.SYS_LISTEN}, tellingCalls...))
	})
)

// makeFilter makes a filter that reports the given calls; nil: none.
func makeFilter(telling []uint32) []unix.SockFilter {
	var f bpf
	f.load(dataArch)
	f.unless(auditArch(), retNoSys)
	f.load(dataNr)
	if runtime.GOARCH == "amd64" {
		const x32 = 0x40000000
		f.atLeast(x32, retNoSys)
	}
	for _, nr := range absentCalls {
		f.is(nr, retNoSys)
	}
	for _, nr := range append(refusedCalls, refusedHere...) {
		f.is(nr, retPerm)
	}
	f.inCase(unix.SYS_IOCTL, func(f *bpf) { // keys typed into the terminal, and its selection
		f.load(dataArg1)
		f.is(unix.TIOCSTI, retPerm)
		f.is(unix.TIOCLINUX, retPerm)
	})
	f.inCase(unix.SYS_PRLIMIT64, func(f *bpf) { // the limits of another process, to which lathe belongs
		f.load(dataArg0)
		f.is(0, retAllow)
		f.load(dataArg2)
		f.unless(0, retPerm)
		f.load(dataArg2 + 4)
		f.unless(0, retPerm)
	})
	f.inCase(unix.SYS_SOCKET, func(f *bpf) { f.sockets() })
	f.inCase(unix.SYS_SOCKETPAIR, func(f *bpf) { f.sockets() })
	if telling != nil {
		f.tellOpen(unix.SYS_OPENAT, dataArg2)
		if olderOpen != 0 {
			f.tellOpen(olderOpen, dataArg1)
		}
		f.load(dataNr)
		for _, nr := range telling {
			f.is(nr, unix.SECCOMP_RET_USER_NOTIF)
		}
	}
	f.ret(retAllow)
	return f.code
}

// sockets allows those in everyday use, but not packet sockets, those to a virtual
// machine's host, those of the kernel's ciphers, and the like.
func (f *bpf) sockets() {
	f.load(dataArg0)
	for _, family := range []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK} {
		f.is(family, retAllow)
	}
	f.ret(retAFam)
}

// bpf is a program for the kernel's packet filter machine.
type bpf struct{ code []unix.SockFilter }

func (f *bpf) add(code uint16, k uint32, yes, no uint8) {
	f.code = append(f.code, unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no})
}

func (f *bpf) load(at uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at, 0, 0) }
func (f *bpf) ret(k uint32)   { f.add(unix.BPF_RET|unix.BPF_K, k, 0, 0) }

func (f *bpf) is(value, ret uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, value, 0, 1)
	f.ret(ret)
}

func (f *bpf) unless(value, ret uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, value, 1, 0)
	f.ret(ret)
}

func (f *bpf) atLeast(value, ret uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, value, 0, 1)
	f.ret(ret)
}

// inCase adds code that checks the arguments of one call and allows it at the end.
func (f *bpf) inCase(nr uint32, look func(*bpf)) {
	var inner bpf
	look(&inner)
	inner.ret(retAllow)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, nr, 0, uint8(len(inner.code)))
	f.code = append(f.code, inner.code...)
}
