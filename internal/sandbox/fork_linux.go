//go:build amd64 || arm64

package sandbox

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// step is one system call that a new process makes before it executes its program.
type step struct {
	what    string // for an error: "mount /proc"
	nr      uintptr
	args    [6]uintptr
	arg0    *uintptr // if set: where the first argument will be by then
	save    *uintptr // if set: where to store the result
	mayFail bool
	// skip is how many steps to leave out, with this one, if its file no longer
	// exists; -1: it has to exist.
	skip int
}

// nextProcess is a special step: the steps after it are for another process, a
// child of the same parent.
const nextProcess = ^uintptr(0)

// program is what runs between the start of a process and its exec. Everything that its
// steps point to is kept in keep.
//
// Its processes share lathe's memory, while the thread that started them waits. So they
// run a single function that does not grow the stack, allocates nothing and only makes
// system calls.
type program struct {
	steps []*step
	keep  []any
	late  []late
	flags uintptr // of clone(2), besides those that all have

	at    int     // the current step
	pid   uintptr // of the last process
	errno uintptr // why the step at at failed
	first uintptr // the first process, if it is not the last
}

// newProgram returns a program without steps. It is on the heap, where it stays.
//
//go:noinline
func newProgram() *program { return &program{} }

func (p *program) add(what string, nr uintptr, args ...uintptr) *step {
	s := &step{what: what, nr: nr, skip: -1}
	copy(s.args[:], args)
	p.steps = append(p.steps, s)
	return s
}

// str keeps a C string for the steps.
func (p *program) str(s string) uintptr {
	b := append([]byte(s), 0)
	p.keep = append(p.keep, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// strs keeps a list of C strings.
func (p *program) strs(list []string) uintptr {
	out := make([]uintptr, len(list)+1)
	for i, s := range list {
		out[i] = p.str(s)
	}
	p.keep = append(p.keep, out)
	return uintptr(unsafe.Pointer(&out[0]))
}

func pointer[T any](p *program, v *T) uintptr {
	p.keep = append(p.keep, v)
	return uintptr(unsafe.Pointer(v))
}

// Flags of processes that share lathe's memory until they execute or end.
const (
	shared     = unix.CLONE_VM | unix.CLONE_VFORK | uintptr(unix.SIGCHLD)
	sharedPeer = shared | unix.CLONE_PARENT
)

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// fork is clone(2). The child goes on with the parent's stack while the parent waits.
//
//go:noescape
func fork(flags uintptr) (pid, errno uintptr)

// run starts a process that makes the steps, the last of which may execute a program,
// and returns when that is done. With files it shares lathe's descriptors.
func (p *program) run(files bool) (pid int, failed string, errno syscall.Errno) {
	flags := shared | p.flags
	if files {
		flags |= unix.CLONE_FILES
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	syscall.ForkLock.Lock()
	beforeFork()
	p.start(flags)
	afterFork()
	syscall.ForkLock.Unlock()
	runtime.KeepAlive(p)
	if p.first != 0 && p.first != p.pid {
		_, _ = unix.Wait4(int(p.first), nil, 0, nil)
	}
	if p.errno != 0 {
		failed = "start a process"
		if p.first != 0 && p.at < len(p.steps) {
			failed = p.steps[p.at].what
		}
		if p.pid != 0 {
			_, _ = unix.Wait4(int(p.pid), nil, 0, nil)
		}
		return 0, failed, syscall.Errno(p.errno)
	}
	return int(p.pid), "", 0
}

//go:noinline
//go:norace
//go:nosplit
//go:nocheckptr
func (p *program) start(flags uintptr) {
	pid, errno := fork(flags)
	if errno == 0 && pid == 0 {
		afterForkInChild()
		p.make()
	}
	p.started(pid, errno)
}

// started is the parent's part. The child has not touched start's own
// variables.
//
//go:noinline
//go:norace
//go:nosplit
func (p *program) started(pid, errno uintptr) {
	if errno != 0 {
		p.errno = errno
		return
	}
	p.first = pid
	if p.pid == 0 {
		p.pid = pid
	}
}

// make makes the steps and does not return.
//
//go:noinline
//go:norace
//go:nosplit
//go:nocheckptr
func (p *program) make() {
	for ; p.at < len(p.steps); p.at++ {
		s := p.steps[p.at]
		if s.nr == nextProcess {
			pid, errno := fork(sharedPeer)
			if errno != 0 {
				p.errno = errno
				break
			}
			if pid != 0 {
				p.pid = pid
				p.exit(0)
			}
			continue
		}
		a0 := s.args[0]
		if s.arg0 != nil {
			a0 = *s.arg0
		}
		r, _, errno := syscall.RawSyscall6(s.nr, a0, s.args[1], s.args[2], s.args[3], s.args[4], s.args[5])
		if errno == unix.ENOENT && s.skip >= 0 {
			p.at += s.skip
			continue
		}
		if errno != 0 && !s.mayFail {
			p.errno = uintptr(errno)
			break
		}
		if s.save != nil {
			*s.save = r
		}
	}
	p.exit(253)
}

//go:nosplit
//go:norace
func (p *program) exit(code uintptr) {
	for {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT, code, 0, 0)
	}
}
