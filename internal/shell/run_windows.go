package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

func sysAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func supervisorAttr() *syscall.SysProcAttr { return sysAttr() }

// signalTree ends the tree with the system's own tool; there is no polite way.
func (p *process) signalTree(bool) {
	taskkill := filepath.Join(os.Getenv("SystemRoot"), "System32", "taskkill.exe")
	if exec.Command(taskkill, "/T", "/F", "/PID", strconv.Itoa(p.proc.Pid)).Run() != nil {
		_ = p.proc.Kill()
	}
}

func signalName(*os.ProcessState) string { return "" }
