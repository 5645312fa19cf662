package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// faultEnv lets the file layer of a server fail from some moment on: "28 40ms" is
// no space after 40 ms.
const faultEnv = "LATHE_TORTURE_FAULT"

func armFault(spec string) {
	var errno int
	var after string
	_, err := fmt.Sscan(spec, &errno, &after)
	wait, err2 := time.ParseDuration(after)
	if err != nil || err2 != nil {
		panic("bad " + faultEnv)
	}
	time.AfterFunc(wait, func() {
		if err := breakFiles(syscall.Errno(errno)); err != nil {
			fmt.Fprintln(os.Stderr, "no fault injected:", err)
		}
	})
}

// breakFiles makes every system call that stores something fail, in all threads:
// writes at an offset, syncs, truncations, new files.
func breakFiles(errno syscall.Errno) error {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		anyBit = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K
		flags  = 32 // where the third argument of a call is
	)
	program := []unix.SockFilter{
		{Code: load, K: 0},
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

// mountSmall makes a small file system of its own the home, and reports whether
// that was possible.
func (r *rig) mountSmall(size string) bool {
	if os.Getuid() != 0 || r.mount {
		return r.mount
	}
	if err := unix.Mount("tmpfs", r.home, "tmpfs", 0, "size="+size); err != nil {
		return false
	}
	r.mount = true
	return r.configure() == nil
}

func (r *rig) unmount() {
	if r.mount {
		_ = unix.Unmount(r.home, unix.MNT_DETACH)
		r.mount = false
	}
}
