package shell

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lathe/internal/sandbox"
)

// mark tells the processes of one command from all others. It is kept in the
// limit RLIMIT_RTTIME, which is inherited over fork, exec and setsid, survives a
// cleared environment, has no effect at such a high value and none on processes
// outside the real-time classes; and in an environment variable, which survives a
// reset of the limit. The soft limit names the call, the hard limit the instance:
// without root's rights no process can raise that again. lathe itself, and so
// whatever it starts for people, has a limit just above (see [mark.own]).
//
// A nested lathe takes an instance below that of the outer one and appends to the
// variable. Call 0 stands for all calls.
type mark struct{ instance, call uint64 }

const (
	callBits    = 20
	maxInstance = 1<<40 - 1
	markBit     = 1 << 61
	markVar     = "LATHE_SPAWN"
)

// newInstance picks the number of an instance.
func newInstance() uint64 {
	lim, _ := limit(os.Getpid())
	return instanceBelow(lim.Max)
}

// instanceBelow picks one below the hard limit that lathe was started with. It is
// odd, because the even number above it is lathe's own.
func instanceBelow(hard uint64) uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	n := binary.LittleEndian.Uint64(b[:]) & maxInstance
	if hard&^(markBit-1) == markBit {
		n %= max(hard&(markBit-1)>>callBits, 4) - 2
	}
	return n | 1
}

func instanceName(n uint64) string { return strconv.FormatUint(n, 16) }

func (m mark) value() uint64 { return markBit | m.instance<<callBits | m.call&(1<<callBits-1) }

// ceiling is the hard limit of all processes of the instance's commands.
func (m mark) ceiling() uint64 { return markBit | (m.instance+1)<<callBits - 1 }

// own is the limit of lathe itself. No process of a command can take it without
// root's rights, since it is above the ceiling.
func (m mark) own() uint64 { return m.ceiling() + 1 }

// setOwn gives lathe its limit and reports whether the system allows it.
func (m mark) setOwn() bool {
	lim, ok := limit(os.Getpid())
	if !ok || lim.Max < m.own() {
		return false
	}
	lim.Cur = m.own()
	return unix.Prlimit(0, unix.RLIMIT_RTTIME, &lim, nil) == nil
}

func (m mark) name() string {
	s := instanceName(m.instance) + "."
	if m.call != 0 {
		s += strconv.FormatUint(m.call, 16) + ";"
	}
	return s
}

// env returns the environment with the variable that carries the mark.
func (m mark) env(base []string) []string {
	out := make([]string, 0, len(base)+1)
	value := m.name()
	for _, kv := range base {
		if outer, ok := strings.CutPrefix(kv, markVar+"="); ok {
			value = clip(outer, 512) + value
			continue
		}
		out = append(out, kv)
	}
	return append(out, markVar+"="+value)
}

// limit returns the resource limit that a marked process begins with.
func (m mark) limit() sandbox.Limit {
	own, _ := limit(os.Getpid())
	top := min(m.ceiling(), own.Max)
	return sandbox.Limit{Cur: min(m.value(), top), Max: top}
}

// set marks a process that was just started, and what it may have started before
// it was marked.
func (m mark) set(pid int) {
	m.setOne(pid)
	for depth, kids := 0, children(pid); depth < 8 && len(kids) > 0; depth++ {
		var next []int
		for _, kid := range kids {
			m.setOne(kid)
			next = append(next, children(kid)...)
		}
		kids = next
	}
}

func (m mark) setOne(pid int) {
	lim, ok := limit(pid)
	if !ok {
		return
	}
	lim.Max = min(m.ceiling(), lim.Max)
	lim.Cur = min(m.value(), lim.Max)
	_ = unix.Prlimit(pid, unix.RLIMIT_RTTIME, &lim, nil)
}

// children lists the direct children of a process with one thread.
func children(pid int) []int {
	id := strconv.Itoa(pid)
	return childrenOf("/proc/" + id + "/task/" + id)
}

func childrenOf(task string) []int {
	raw, _ := os.ReadFile(task + "/children")
	var out []int
	for _, word := range strings.Fields(string(raw)) {
		if pid, err := strconv.Atoi(word); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// adopted lists the children of lathe and of the processes that hold sandboxes,
// which include orphans of commands.
func (t *tree) adopted() []int {
	out := adopted()
	for _, pid := range t.holders() {
		out = append(out, children(pid)...)
	}
	return out
}

func adopted() []int {
	return listWhole(ownChildren, func(pid int) bool { return unix.Kill(pid, 0) != unix.ESRCH })
}

// listWhole reads a complete list of children. The kernel continues from the child it
// listed last; if children were collected in the meantime, it skips as many others. So a
// list is complete if everything on it still exists, dead or alive, after it was read.
func listWhole(list func() []int, there func(pid int) bool) (pids []int) {
	for range 20 {
		pids = list()
		if !slices.ContainsFunc(pids, func(pid int) bool { return !there(pid) }) {
			break
		}
	}
	return pids
}

func ownChildren() []int {
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return nil
	}
	defer dir.Close()
	tasks, _ := dir.Readdirnames(-1)
	var out []int
	for _, task := range tasks {
		out = append(out, childrenOf("/proc/self/task/"+task)...)
	}
	return out
}

// limit returns the limit that carries the mark. It works for dead processes that
// are not yet collected, too.
func limit(pid int) (lim unix.Rlimit, ok bool) {
	err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &lim)
	return lim, err == nil
}

// hasLimit reports whether the process carries the mark in its limit.
func (m mark) hasLimit(pid int) bool {
	lim, ok := limit(pid)
	if !ok {
		return false
	}
	if m.call == 0 {
		return lim.Cur>>callBits == m.value()>>callBits || lim.Max == m.ceiling()
	}
	return lim.Cur == m.value()
}

func (m mark) hasVar(pid int) bool {
	raw, err := environ(pid)
	if err != nil {
		return false
	}
	_, rest, ok := bytes.Cut(append([]byte{0}, raw...), []byte("\x00"+markVar+"="))
	value, _, _ := bytes.Cut(rest, []byte{0})
	return ok && bytes.Contains(value, []byte(m.name()))
}

// environ returns the environment of a process. One that executes another program
// at this moment shows none, so an orphan that became our child is looked at again,
// for as long as a busy machine may delay it.
func environ(pid int) (raw []byte, err error) {
	for range 50 {
		raw, err = os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || len(raw) > 0 {
			return raw, err
		}
		if st, ok := readStat(pid); !ok || st.dead || st.parent != os.Getpid() {
			return raw, nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return raw, nil
}

// marked lists the live processes with the mark in their limit, except the leader.
func (m mark) marked(leader int) []int {
	var out []int
	for _, pid := range allPIDs() {
		if pid != leader && pid != os.Getpid() && m.hasLimit(pid) && !collect(pid) {
			out = append(out, pid)
		}
	}
	return out
}

// tree lists the live processes that carry either mark, are listed in also, or
// descend from one of those, and collects the dead ones that became our children.
// A leader counts as marked, but is left for its owner to collect.
func (m mark) tree(leader int, also ...int) []int {
	parent := map[int]int{}
	ours := map[int]bool{}
	for _, pid := range allPIDs() {
		st, ok := readStat(pid)
		if !ok || pid == os.Getpid() {
			continue
		}
		if st.dead {
			if pid != leader && m.hasLimit(pid) {
				collect(pid)
			}
			continue
		}
		parent[pid] = st.parent
		if pid == leader || slices.Contains(also, pid) || m.hasLimit(pid) || m.hasVar(pid) {
			ours[pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for pid, up := range parent {
			if !ours[pid] && ours[up] {
				ours[pid], grown = true, true
			}
		}
	}
	out := make([]int, 0, len(ours))
	for pid := range ours {
		out = append(out, pid)
	}
	return out
}

// collect takes the exit status of a dead child of ours, and reports whether
// there was one. The caller knows from the mark that nobody else waits for it.
func collect(pid int) bool {
	st, ok := readStat(pid)
	if !ok {
		return true
	}
	if !st.dead {
		return false
	}
	if st.parent == os.Getpid() {
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
	return true
}

type stat struct {
	dead    bool // no thread of it runs any more
	parent  int
	session int
	tty     bool   // has a controlling terminal
	began   uint64 // in ticks since the machine started
	state   byte   // as in proc_pid_stat(5)
	used    uint64 // processor time, in ticks
}

func readStat(pid int) (stat, bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	i := bytes.LastIndexByte(raw, ')') // the name before it may contain anything
	if err != nil || i < 0 {
		return stat{}, false
	}
	fields := strings.Fields(string(raw[i+1:])) // from the third of proc_pid_stat(5)
	if len(fields) < 20 {
		return stat{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return stat{}, false
	}
	session, _ := strconv.Atoi(fields[3])
	began, _ := strconv.ParseUint(fields[19], 10, 64)
	// A process whose first thread has ended is shown as a zombie while its other threads run on.
	threads, _ := strconv.Atoi(fields[17])
	user, _ := strconv.ParseUint(fields[11], 10, 64)
	system, _ := strconv.ParseUint(fields[12], 10, 64)
	return stat{state: fields[0][0], used: user + system, dead: (fields[0] == "Z" || fields[0] == "X") && threads <= 1, parent: parent, session: session, tty: fields[4] != "0", began: began}, true
}

func allPIDs() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killAll kills what list returns until it returns nothing, and reports whether there
// was anything. All are stopped before any is killed, so that none can fork or notice.
func killAll(list func() []int) bool {
	for i := range 100 {
		pids := list()
		if len(pids) == 0 {
			return i > 0
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGSTOP)
		}
		signalAndWait(pids, unix.SIGKILL, 100*time.Millisecond)
	}
	return true
}

// endAll asks the processes to stop and waits for that.
func endAll(pids []int, grace time.Duration) {
	signalAndWait(pids, unix.SIGTERM, grace)
}

func signalAndWait(pids []int, sig unix.Signal, limit time.Duration) {
	fds := make([]unix.PollFd, 0, len(pids))
	defer func() {
		for _, fd := range fds {
			_ = unix.Close(int(fd.Fd))
		}
	}()
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		_ = unix.Kill(pid, sig)
		if sig == unix.SIGTERM {
			_ = unix.Kill(pid, unix.SIGCONT)
		}
		if err == nil && len(fds) < 256 {
			fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		} else if err == nil {
			_ = unix.Close(fd)
		}
	}
	waitDead(fds, limit)
}

// waitDead waits until each of the process descriptors reports an end.
func waitDead(fds []unix.PollFd, limit time.Duration) {
	deadline := time.Now().Add(limit)
	for i := range fds {
		left := time.Until(deadline)
		if left <= 0 {
			return
		}
		for {
			_, err := unix.Poll(fds[i:i+1], int(left/time.Millisecond)+1)
			if err != unix.EINTR {
				break
			}
		}
	}
}
