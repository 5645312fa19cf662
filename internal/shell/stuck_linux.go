package shell

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const canSeeWaiting = true

// waiting says which process of the command waits for keys on a terminal, or was
// stopped because it wants a terminal, while no other process does or is about to do
// anything; and how much processor time all of them used.
func (p *process) waiting() (what string, used uint64) {
	for _, pid := range p.mark.tree(p.proc.Pid) {
		st, ok := readStat(pid)
		if !ok {
			continue
		}
		used += st.used
		if st.state == 'T' {
			what = processName(pid) + " stopped itself, as programs do that want a terminal"
			continue
		}
		call, ok := callOf(pid)
		if !ok || st.state != 'S' {
			return "", used
		}
		switch {
		case call.wantsKeys(pid):
			what = processName(pid) + " waits for keys"
		case !call.endless():
			return "", used
		}
	}
	return what, used
}

// call is a system call that a process is in.
type call struct {
	number int
	args   [6]uint64
}

func callOf(pid int) (c call, ok bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/syscall")
	fields := strings.Fields(string(raw))
	if err != nil || len(fields) < 7 {
		return c, false // it is running
	}
	if c.number, err = strconv.Atoi(fields[0]); err != nil {
		return c, false
	}
	for i := range c.args {
		c.args[i], _ = strconv.ParseUint(strings.TrimPrefix(fields[i+1], "0x"), 16, 64)
	}
	return c, true
}

// forever is a timeout of -1, as an int in a register.
func forever(arg uint64) bool { return int32(arg) < 0 }

// endless reports whether a call lasts until another process does something.
func (c call) endless() bool {
	switch c.number {
	case unix.SYS_READ, unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_RT_SIGSUSPEND:
		return true
	case sysPoll:
		return forever(c.args[2])
	case unix.SYS_PPOLL:
		return c.args[2] == 0
	case sysSelect, unix.SYS_PSELECT6:
		return c.args[4] == 0
	case sysEpollWait, unix.SYS_EPOLL_PWAIT:
		return forever(c.args[3])
	}
	return false
}

// wantsKeys reports whether a call waits for the input of a terminal and nothing else.
func (c call) wantsKeys(pid int) bool {
	switch c.number {
	case unix.SYS_READ:
		return isTerminal(pid, int(c.args[0]))
	case sysSelect, unix.SYS_PSELECT6: // the descriptors below a number
		return c.args[0] == 1 && isTerminal(pid, 0)
	case sysPoll, unix.SYS_PPOLL:
		return c.args[1] == 1 && c.endless() && isTerminal(pid, 0)
	case sysEpollWait, unix.SYS_EPOLL_PWAIT:
		return c.endless() && pollsKeys(pid, int(c.args[0]))
	}
	return false
}

// pollsKeys reports whether a process polls a terminal and otherwise only things
// that come from itself.
func pollsKeys(pid, poll int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/fdinfo/" + strconv.Itoa(poll))
	if err != nil {
		return false
	}
	keys := false
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "tfd:" {
			continue
		}
		fd, err := strconv.Atoi(fields[1])
		if err != nil {
			return false
		}
		switch name := openAs(pid, fd); {
		case terminalName(name):
			keys = true
		case !strings.HasPrefix(name, "pipe:") && name != "anon_inode:[eventfd]" && name != "anon_inode:[signalfd]":
			return false
		}
	}
	return keys
}

func isTerminal(pid, fd int) bool { return terminalName(openAs(pid, fd)) }

func openAs(pid, fd int) string {
	name, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(fd))
	return name
}

func terminalName(name string) bool {
	return strings.HasPrefix(name, "/dev/pts/") || strings.HasPrefix(name, "/dev/tty")
}
