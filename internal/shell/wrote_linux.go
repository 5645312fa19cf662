package shell

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Wrote returns how many bytes the live processes, and those they waited for, have
// written elsewhere than to the output of the process: to files, usually. It is an
// estimate to be compared with an earlier one: if both are the same, nothing was
// written to files. False means that it cannot be found out.
func (l *Process) Wrote() (n int64, ok bool) {
	for _, pid := range l.PIDs() {
		one, ok := wrote(pid)
		if !ok {
			return 0, false
		}
		n += one
	}
	return n - l.p.read.Load() - l.p.unread(), true
}

// wrote reads what a process has written, from proc_pid_io(5).
func wrote(pid int) (int64, bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	_, rest, found := bytes.Cut(raw, []byte("wchar: "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, bad := strconv.ParseInt(string(line), 10, 64)
	return n, err == nil && found && bad == nil
}

// unread is how much output was not read yet.
func (p *process) unread() int64 {
	conn, err := p.out.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	_ = conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return int64(n)
}
