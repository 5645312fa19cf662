//go:build unix && !linux

package shell

import (
	"os"
	"syscall"
)

func sysAttr() *syscall.SysProcAttr        { return &syscall.SysProcAttr{Setsid: true} }
func supervisorAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (p *process) signalTree(kill bool) {
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-p.proc.Pid, sig)
}

func signalName(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}
