package shell

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A program can hop: each generation of it starts the next one and ends, so that every
// process is gone by the time it is looked at. Its eldest living process is always a
// child of lathe, though, and each that ended stays one until lathe collects it. So
// finding neither proves that nothing is left, while finding only dead ones proves
// nothing.

const (
	chaseBurst = 20 * time.Millisecond
	maxChase   = 5 * time.Second
)

// hunted lists the live processes of the command, and reports whether some ended
// in the meantime.
func (p *process) hunted() (pids []int, stirred bool) {
	stray, stirred := p.r.strays(p.mark)
	return p.mark.tree(p.leader(), stray...), stirred
}

// quiet reports whether nothing but the leader is left. It costs one system call for
// each process of the machine, unless the namespaces of a sandbox show it.
func (p *process) quiet() bool {
	if p.leader() == 0 && p.bounds.run != nil && p.bounds.run.Alone() {
		return true
	}
	if len(p.mark.marked(p.leader())) > 0 {
		return false
	}
	alive, stirred := p.r.strays(p.mark)
	return len(alive) == 0 && !stirred
}

// stirs reports whether some process of the command is there, or was a moment ago.
func (p *process) stirs() bool {
	pids, stirred := p.r.strays(p.mark)
	return stirred || slices.ContainsFunc(pids, func(pid int) bool {
		return p.mark.hasLimit(pid) || p.mark.hasVar(pid) || unix.Kill(pid, 0) == unix.ESRCH
	})
}

// clear kills until nothing of the command is left, and reports whether there was
// anything. It gives up on a program that keeps hopping faster than it can be
// killed.
func (p *process) clear() (any bool) {
	for begin := time.Now(); time.Since(begin) < maxChase; any = true {
		any = killAll(p.hunt) || any
		if p.quiet() {
			return any
		}
		p.chase()
	}
	return true
}

// chase kills what it sees without looking at the rest of the machine, so that there is
// no time to hop between the look at lathe's children and the kill. A process that was
// killed cannot start another any more.
func (p *process) chase() {
	self := "/proc/self/task/" + strconv.Itoa(os.Getpid()) // orphans become children of the first thread
	for begin := time.Now(); time.Since(begin) < chaseBurst; {
		seen := false
		for _, pid := range slices.Backward(childrenOf(self)) { // the newest first
			if !p.owns(pid) {
				continue
			}
			seen = true
			_ = unix.Kill(pid, unix.SIGKILL)
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		if !seen {
			return
		}
	}
}

// owns reports whether a child of lathe, dead or alive, has to be ended with the command
// and is not its leader.
func (p *process) owns(pid int) bool {
	if pid == p.proc.Pid {
		return false
	}
	if lim, ok := limit(pid); ok && lim.Cur == p.mark.value() {
		return true
	}
	st, ok := readStat(pid)
	return ok && p.r.stray(pid, st) && !p.r.ofAnother(pid, p.mark)
}

// chaseNewest kills the processes with a mark, except those of some calls, that are
// among the machine's newest: when lathe is gone, nothing else leads to a process
// that hops. It reports whether there were any.
func (m mark) chaseNewest(spared []uint64) (any bool) {
	const newest = 8
	for begin := time.Now(); time.Since(begin) < chaseBurst/4; {
		last := lastPID()
		for pid := last; pid > max(last-newest, 1); pid-- {
			if pid == os.Getpid() || !m.hasLimit(pid) || slices.ContainsFunc(spared, func(call uint64) bool { return mark{m.instance, call}.hasLimit(pid) }) {
				continue
			}
			if st, ok := readStat(pid); ok && !st.dead {
				any = true
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
	}
	return any
}

// lastPID is the number that was given to a process last.
func lastPID() int {
	raw, _ := os.ReadFile("/proc/loadavg")
	fields := bytes.Fields(raw)
	if len(fields) == 0 {
		return 0
	}
	pid, _ := strconv.Atoi(string(fields[len(fields)-1]))
	return pid
}
