package shell

import (
	"bytes"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attr makes a process without a call independent of the thread that started it:
// the supervisor ends it with lathe. Without a supervisor the kernel has to.
func (o pipes) attr(sys *syscall.SysProcAttr, free bool) {
	if free {
		sys.Pdeathsig = 0
	}
	sys.Setctty = o.Terminal // its descriptor 0
}

// waitIdly is wait, but takes no thread in the meantime.
func (p *process) waitIdly() {
	awaitGone(p.proc.Pid, nil)
	p.wait()
}

// remains reports whether the shell left processes behind that carry its marks, and
// whether it certainly left nothing at all.
func (p *process) remains() (live, nothing bool) {
	if p.quiet() {
		return false, true
	}
	return len(p.alive()) > 0, false
}

// alive lists the live processes of the command by its marks. A process that dropped
// both is not listed: it is ended with the next command that ends.
func (p *process) alive() []int {
	pids := p.mark.tree(p.leader())
	slices.Sort(pids)
	return pids
}

// awaitRest waits until what the shell left behind has ended, or for stop. It sleeps
// until the kernel reports an end.
func (p *process) awaitRest(stop <-chan struct{}) {
	for range maxLooks {
		if !awaitAll(p.alive, stop) {
			return
		}
		// A process that was just becoming a daemon was gone already and not there yet.
		if !p.stirs() {
			return
		}
		waitEither(stop, nil, secondLook)
	}
}

const (
	secondLook = 20 * time.Millisecond // long enough to see a process that hops
	maxLooks   = 50                    // for one that keeps hopping
)

// awaitAll waits until nothing is listed any more; false means that stop was closed.
func awaitAll(list func() []int, stop <-chan struct{}) bool {
	for {
		pids := list()
		if len(pids) == 0 {
			return true
		}
		for _, pid := range pids {
			if !awaitGone(pid, stop) {
				return false
			}
		}
	}
}

// awaitGone waits until a process has ended; false means that stop was closed. It
// takes no thread.
func awaitGone(pid int, stop <-chan struct{}) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return true
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil { // Linux before 5.3
		return waitEither(nil, stop, time.Second) || !closed(stop)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	defer file.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		conn, err := file.SyscallConn()
		if err == nil {
			_ = conn.Read(func(fd uintptr) bool {
				n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
				return n > 0 || err != nil && err != unix.EINTR
			})
		}
	}()
	select {
	case <-gone:
		return true
	case <-stop:
		_ = file.SetReadDeadline(time.Unix(1, 0))
		<-gone
		return false
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// terminateWithin asks all processes to end and waits for each, then kills.
func (p *process) terminateWithin(grace time.Duration) {
	if leader := p.leader(); leader != 0 {
		_ = unix.Kill(-leader, unix.SIGTERM)
		_ = unix.Kill(-leader, unix.SIGCONT)
	}
	endAll(p.hunt(), grace)
	p.signalTree(true)
}

func interruptGroup(leader int) bool { return unix.Kill(-leader, unix.SIGINT) == nil }

// collectPause is the least time between two collections of dead processes.
const collectPause = time.Second

// collectMeanwhile collects dead orphans of commands while calls are running.
// Nobody else waits for them, and a long command may leave many. It is woken by the
// kernel when a child ends.
func (r *Runner) collectMeanwhile() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle != nil {
		return
	}
	r.idle = make(chan struct{})
	go r.collectUntil(r.idle)
}

func (t *tree) collectUntil(idle <-chan struct{}) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	for {
		select {
		case <-ended:
			t.strays(mark{instance: t.instance})
		case <-idle:
			return
		}
		if waitEither(idle, nil, collectPause) {
			return
		}
	}
}

// listening lists the TCP ports that some processes listen on.
func listening(pids []int) []int {
	if len(pids) == 0 {
		return nil
	}
	held := map[string]bool{}
	for _, pid := range pids {
		for _, link := range sockets(pid) {
			held[link] = true
		}
	}
	if len(held) == 0 {
		return nil
	}
	var ports []int
	for _, table := range []string{"/net/tcp", "/net/tcp6"} {
		// The process may have a network of its own.
		raw, _ := os.ReadFile("/proc/" + strconv.Itoa(pids[0]) + table)
		ports = append(ports, listeners(raw, held)...)
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// sockets lists the inodes of the sockets that a process has open.
func sockets(pid int) (inodes []string) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		to, err := os.Readlink(dir + "/" + name)
		if inode, ok := strings.CutPrefix(to, "socket:["); err == nil && ok {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}

// listeners reads a table as in proc_pid_net(5) and returns the local ports of the
// sockets that listen and are held.
func listeners(table []byte, held map[string]bool) (ports []int) {
	const local, state, inode, listens = 1, 3, 9, "0A"
	for line := range bytes.Lines(table) {
		f := strings.Fields(string(line))
		if len(f) <= inode || f[state] != listens || !held[f[inode]] {
			continue
		}
		_, hex, _ := strings.Cut(f[local], ":")
		if port, err := strconv.ParseUint(hex, 16, 16); err == nil {
			ports = append(ports, int(port))
		}
	}
	return ports
}
