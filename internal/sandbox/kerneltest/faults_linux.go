//go:build amd64 || arm64

package kerneltest

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BreakFiles makes every system call of this process, and of all that it starts, that
// stores something fail after a while: writes at an offset, syncs, truncations, new files.
// A spec is an error's number and the delay: "28 40ms" is no space after 40 ms. Failed is
// called if the calls cannot be made to fail.
func BreakFiles(spec string, failed func(error)) error {
	number, delay, _ := strings.Cut(spec, " ")
	errno, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("fault %q: %w", spec, err)
	}
	wait, err := time.ParseDuration(delay)
	if err != nil {
		return fmt.Errorf("fault %q: %w", spec, err)
	}
	time.AfterFunc(wait, func() {
		if err := FilterCalls(storing(syscall.Errno(errno))); err != nil {
			failed(err)
		}
	})
	return nil
}

func storing(errno syscall.Errno) []unix.SockFilter {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		anyBit = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K
		flags  = 32 // where the third argument of a call is
	)
	return []unix.SockFilter{
		{Code: load, K: number},
		{Code: equal, K: unix.SYS_PWRITE64, Jt: 6},
		{Code: equal, K: unix.SYS_FSYNC, Jt: 5},
		{Code: equal, K: unix.SYS_FDATASYNC, Jt: 4},
		{Code: equal, K: unix.SYS_FTRUNCATE, Jt: 3},
		{Code: equal, K: unix.SYS_OPENAT, Jf: 3},
		{Code: load, K: flags},
		{Code: anyBit, K: unix.O_CREAT, Jf: 1},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
	}
}

// FilterCalls binds all threads of this process, and what it starts, to a filter of system
// calls, for good.
func FilterCalls(program []unix.SockFilter) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	return nil
}
