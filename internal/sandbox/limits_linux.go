//go:build amd64 || arm64

package sandbox

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// limit adds the limits of one process. RLIMIT_NPROC counts within the namespace of users,
// where there is one, and does not bind root, for whom [spaces.fewer] does the same.
func (l Limits) limit(p *program, level Level) {
	set := func(what string, resource int, value uint64) {
		limit := &unix.Rlimit{Cur: value, Max: value}
		p.add("limit "+what, unix.SYS_PRLIMIT64, 0, uintptr(resource), pointer(p, limit), 0)
	}
	if level == Full {
		set("processes", unix.RLIMIT_NPROC, min(uint64(l.Most()), hardest(unix.RLIMIT_NPROC)))
	}
	if l.Memory > 0 {
		set("memory", unix.RLIMIT_DATA, min(l.Memory, hardest(unix.RLIMIT_DATA)))
	}
	if l.Files > 0 {
		set("open files", unix.RLIMIT_NOFILE, min(l.Files, hardest(unix.RLIMIT_NOFILE)))
	}
}

// hardest is how far lathe's own limit can be raised.
func hardest(resource int) uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(resource, &limit) != nil {
		return unix.RLIM_INFINITY
	}
	return limit.Max
}

// fewer bounds the numbers of processes in the namespaces, where a namespace has a bound
// of its own: that is so since Linux 6.14. On others the file is the machine's.
func (s *spaces) fewer(count int) {
	if !atLeast(6, 14) {
		return
	}
	p, fd := newProgram(), new(uintptr)
	p.keep = append(p.keep, fd)
	text := strconv.Itoa(count)
	here := unix.AT_FDCWD
	s.join(p)
	p.add("start a process", nextProcess)
	p.add("open the limit", unix.SYS_OPENAT, uintptr(here), p.str("/proc/sys/kernel/pid_max"), unix.O_WRONLY|unix.O_CLOEXEC, 0).save = fd
	p.add("write the limit", unix.SYS_WRITE, 0, p.str(text), uintptr(len(text))).arg0 = fd
	_ = p.help(false) // without it ordinary users are bound all the same
}

// atLeast reports whether the kernel is of a version or a later one.
func atLeast(major, minor int) bool {
	raw, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return false
	}
	number := func() (n int) {
		for len(raw) > 0 && raw[0] >= '0' && raw[0] <= '9' {
			n, raw = n*10+int(raw[0]-'0'), raw[1:]
		}
		if len(raw) > 0 {
			raw = raw[1:]
		}
		return n
	}
	a := number()
	b := number()
	return a > major || a == major && b >= minor
}
