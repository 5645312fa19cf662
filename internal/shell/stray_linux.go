package shell

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// While commands run lathe is the new parent of their orphans, so a process that
// leaves its parent becomes lathe's child whatever it did to its marks. A stray is
// such a child that nothing else accounts for: it is no running command's shell, is
// not in lathe's session, where lathe starts its own programs and where no process
// of a command can get to, and does not have the limit that terminals and editors
// inherit from lathe. Such a process counts as a command's.

// stray reports whether a process is a stray.
func (t *tree) stray(pid int, st stat) bool {
	if st.parent != os.Getpid() && !t.helps(st.parent) || st.session == ownSession() || t.leads(pid) {
		return false
	}
	lim, ok := limit(pid)
	if !ok {
		return true // another user's, started by sudo
	}
	m := mark{instance: t.instance}
	return t.ownLimit && lim.Cur != m.own() || m.hasLimit(pid) || m.hasVar(pid)
}

// strays lists the live strays that a call has to end: its own, and those that belong
// to no running call. The dead ones are collected; stirred says that there were dead
// ones, or that somebody else collected a child at this moment.
func (t *tree) strays(m mark) (out []int, stirred bool) {
	held := false
	begun, settled := t.starting.at()
	for _, pid := range t.adopted() {
		st, ok := readStat(pid)
		switch {
		case !ok:
			stirred = true
		case !t.stray(pid, st):
		case st.dead:
			stirred = stirred || !t.ofAnother(pid, m)
			if now, _ := t.starting.at(); settled && now == begun { // else it may be a leader
				collect(pid)
			}
		case unix.Kill(pid, 0) != nil:
			held = true // another user's: it cannot be ended, but stays refused by the server
		case !t.ofAnother(pid, m):
			out = append(out, pid)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = held
	return out, stirred
}

// ofAnother reports whether a process carries the mark of another call that runs.
func (t *tree) ofAnother(pid int, m mark) bool {
	lim, ok := limit(pid)
	return slices.ContainsFunc(t.calling(), func(call uint64) bool {
		other := mark{m.instance, call}
		return call != m.call && (ok && lim.Cur == other.value() || other.hasVar(pid))
	})
}

// setLate marks processes that left the shell before the shell was marked, if it could
// not be held until then; they may already be children of lathe. One that has a terminal
// is a person's.
func (t *tree) setLate(m mark, leader int) {
	begin, ok := readStat(leader)
	if !ok {
		return
	}
	for _, pid := range t.adopted() {
		st, ok := readStat(pid)
		lim, unmarked := limit(pid)
		unmarked = unmarked && (lim.Cur == m.own() || !t.ownLimit && !mark{instance: m.instance}.hasLimit(pid))
		if ok && unmarked && st.began >= begin.began && !st.tty && st.session != ownSession() && !t.leads(pid) {
			m.set(pid)
		}
	}
}

// ownSession is the session that lathe runs in.
func ownSession() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return -1
	}
	return sid
}
