package shell

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// startMarked starts a process that has its marks before it runs its first instruction:
// it is traced until then, so that everything it starts carries them, however busy the
// machine is. Where tracing is not allowed (some containers, or a lathe that is traced
// itself) it is marked while it already runs; held is false then.
func startMarked(name string, args []string, attr *os.ProcAttr, mark func(pid int)) (proc *os.Process, held bool, err error) {
	// The tracer is a thread. It is unlocked again and stays alive, because Pdeathsig fires when it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sys := *attr.Sys
	sys.Ptrace = true
	traced := *attr
	traced.Sys = &sys
	if proc, err = os.StartProcess(name, args, &traced); err != nil {
		if proc, err = os.StartProcess(name, args, attr); err == nil {
			mark(proc.Pid)
		}
		return proc, false, err
	}
	held = awaitStop(proc.Pid)
	mark(proc.Pid)
	// It fails for what was killed in the meantime, which its owner collects.
	_ = unix.PtraceDetach(proc.Pid)
	return proc, held, nil
}

// awaitStop waits until a traced process has stopped. False means that it ended
// first; its status is left for its owner.
func awaitStop(pid int) bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		const trapped = 4 // CLD_TRAPPED
		return err == nil && info.Code == trapped
	}
}
