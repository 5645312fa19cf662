package main

import (
	"fmt"
	"lathe/internal/sandbox/kerneltest"
	"os"

	"golang.org/x/sys/unix"
)

// faultEnv lets the file layer of a server fail from some moment on: "28 40ms" is
// no space after 40 ms.
const faultEnv = "LATHE_TORTURE_FAULT"

func armFault(spec string) {
	err := kerneltest.BreakFiles(spec, func(err error) { fmt.Fprintln(os.Stderr, "no fault injected:", err) })
	if err != nil {
		panic("bad " + faultEnv)
	}
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
