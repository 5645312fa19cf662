//go:build !linux

package shell

import "os"

func startMarked(name string, args []string, attr *os.ProcAttr, mark func(pid int)) (proc *os.Process, held bool, err error) {
	if proc, err = os.StartProcess(name, args, attr); err == nil {
		mark(proc.Pid)
	}
	return proc, false, err
}
