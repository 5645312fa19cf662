package sqlite

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"lathe/internal/store/storetest"
)

// storing are the system calls that store something. openat counts when it makes a file.
var storing = []uint32{
	unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FTRUNCATE, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT,
	unix.SYS_MKDIRAT, unix.SYS_FALLOCATE,
}

// traceStoring lets the tracer of this process, which there must be, see each system
// call that stores something before it is made.
func traceStoring() error {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		anyBit = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K
		flags  = 32 // where the third argument of a call is
	)
	program := []unix.SockFilter{{Code: load, K: 0}}
	for i, call := range storing {
		program = append(program, unix.SockFilter{Code: equal, K: call, Jt: uint8(len(storing) - i + 2)})
	}
	program = append(program,
		unix.SockFilter{Code: equal, K: unix.SYS_OPENAT, Jf: 3},
		unix.SockFilter{Code: load, K: flags},
		unix.SockFilter{Code: anyBit, K: unix.O_CREAT, Jf: 1},
		unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_TRACE},
		unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW},
	)
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	if e != 0 {
		return e
	}
	return nil
}

// crash runs the process that is to crash under a tracer, which kills it before the
// nth system call that stores something.
func crash(t testing.TB, at storetest.Place, n int) (told []string, struck bool) {
	runtime.LockOSThread() // one thread traces
	defer runtime.UnlockOSThread()
	cmd, lines := crashing(at)
	cmd.Env = append(cmd.Env, traceEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, os.ErrPermission) {
			t.Skip("processes cannot be traced here")
		}
		t.Fatal(err)
	}
	struck = traced(t, cmd.Process.Pid, n)
	_ = cmd.Wait() // the tracer collected it; this ends the copying of what it printed
	return lines(), struck
}

// traced lets a process and all its threads run until the nth stop, and kills it there.
// It reports whether there was one.
func traced(t testing.TB, pid, n int) (struck bool) {
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	must(t, unix.PtraceSetOptions(pid, unix.PTRACE_O_TRACESECCOMP|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL))
	must(t, unix.PtraceCont(pid, 0))
	stops, killed := 0, false
	for {
		thread, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			t.Fatal(err)
		case status.Exited() || status.Signaled():
			if thread != pid {
				continue
			}
			if !killed && status.ExitStatus() != 0 {
				t.Fatalf("it ended by itself: %v", status)
			}
			return killed
		case !status.Stopped() || killed:
			continue
		}
		sig := 0
		switch {
		case status.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
			if stops++; stops == n {
				killed = true
				must(t, unix.Kill(pid, unix.SIGKILL))
				continue
			}
		case status.TrapCause() > 0, status.StopSignal() == unix.SIGTRAP, status.StopSignal() == unix.SIGSTOP: // a new thread
		default:
			sig = int(status.StopSignal())
		}
		if err := unix.PtraceCont(thread, sig); err != nil && !errors.Is(err, unix.ESRCH) {
			t.Fatal(err)
		}
	}
}
