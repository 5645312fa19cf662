package pgtest

import (
	"runtime"
	"syscall"
)

// tie ends the server when the thread that started it ends, as it does with the
// process of the test.
func tie(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGQUIT }

func lock() { runtime.LockOSThread() }
