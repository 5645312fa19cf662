//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// idleTime is how long the namespaces of a box are kept after its last process.
const idleTime = 30 * time.Second

// Box starts processes that are confined in the same way. Its processes see each other
// and share a network with nothing else. It makes its namespaces when it first needs
// them, and releases them soon after its last process has ended. It is safe for
// concurrent use. Close it.
type Box struct {
	opts Options

	mu     sync.Mutex
	spaces *spaces // nil: none yet, or not any more
	users  int
	idle   *time.Timer
	closed bool
	lent   map[netip.AddrPort]bool // servers of the machine that are reachable in its network
	absent *absences
}

// NewBox returns a box in which nothing runs yet.
func NewBox(o Options) *Box { return &Box{opts: o, absent: newAbsences()} }

// Start starts a process in a session of its own, confined by a policy.
func (b *Box) Start(proc Process, policy Policy) (run *Run, err error) {
	level := b.Level()
	if policy.Required && level < Full {
		return nil, fmt.Errorf("%w: %s", ErrLevel, level.Words())
	}
	if len(policy.Overlays) > 0 && level < Full {
		return nil, fmt.Errorf("%w: %s", ErrOverlay, level.Words())
	}
	policy.absent = b.absent
	policy.now = newSight(b.absent)
	rules, err := policy.rules(level)
	if err != nil {
		return nil, err
	}
	defer rules.close()
	p := newProgram()
	leave := func() {}
	var alone func() bool
	var conns *connections
	if level == Full {
		spaces, err := b.enter()
		if err != nil {
			return nil, err
		}
		leave, alone = b.leave, spaces.empty
		if b.opts.Network == OwnNetwork {
			conns = &connections{box: b, spaces: spaces, near: proc.Near}
			leave = func() { conns.close(); b.leave() }
		}
		spaces.join(p)
		p.add("start the process", nextProcess)
	}
	proc.begin(p)
	b.opts.Limits.limit(p, level)
	if level == Full {
		terminal := ""
		if proc.Terminal {
			terminal = proc.Files[0].Name()
		}
		policy.mounts(p, rules, terminal)
	}
	var told *passes
	if detect().tells {
		if told, err = newPasses(); err != nil {
			leave()
			return nil, err
		}
		defer told.close()
	}
	code := filter()
	switch {
	case told != nil && conns != nil:
		code = netFilter()
	case told != nil:
		code = tellingFilter()
	}
	proc.become(p, rules, told, code)
	guard := policy.guard(level)
	pid, failed, errno := p.run(false)
	runtime.KeepAlive(proc.Files)
	if errno != 0 {
		leave()
		if strings.HasPrefix(failed, overlayStep) {
			return nil, fmt.Errorf("%w: %s: %w", ErrOverlay, failed, errno)
		}
		return nil, &os.PathError{Op: failed, Path: proc.Path, Err: errno}
	}
	giveWay(pid)
	run = &Run{PID: pid, Level: level, hidden: policy.hidden, check: guard.check, leave: leave, alone: alone}
	if told != nil {
		if fd, err := told.take(); err == nil {
			run.told = newTeller(&policy, fd, conns)
		}
	}
	return run, nil
}

// Level is how far the processes of the box are confined.
func (b *Box) Level() Level {
	level := Detect()
	if b.opts.Most != nil {
		level = min(level, *b.opts.Most)
	}
	return level
}

// HasNetwork reports whether its processes have their own network, in which lathe
// sees what they listen on and connect to.
func (b *Box) HasNetwork() bool {
	return b.opts.Network == OwnNetwork && b.Level() == Full && detect().tells
}

// Detect finds out how far processes can be confined here. That takes a few
// milliseconds once.
func Detect() Level {
	level := detect().level
	found.Store(&level)
	return level
}

// Missing says why it is not further; empty at the highest level.
func Missing() string {
	if err := detect().missing; err != nil {
		return err.Error()
	}
	return ""
}

type detected struct {
	level   Level
	missing error
	tells   bool // refusals can be reported; in somebody else's sandbox that is not ours to do
}

var detect = sync.OnceValue(func() detected {
	if abi := landlockABI(); abi < minLandlock {
		return detected{level: RulesOnly, missing: fmt.Errorf("the kernel has no Landlock, or an old one (version %d, needed %d)", abi, minLandlock)}
	}
	d := detected{level: Full, tells: try(Files, true) == nil}
	if err := try(Files, d.tells); err != nil {
		return detected{level: RulesOnly, missing: err}
	}
	if err := try(Full, d.tells); err != nil {
		d.level, d.missing = Files, err
	}
	return d
})

// try starts a process at a level.
func try(level Level, telling bool) error {
	p := newProgram()
	if level == Full {
		s, err := new(Box).newSpaces()
		if err != nil {
			return err
		}
		defer s.close()
		s.join(p)
		p.add("start a process", nextProcess)
		(&Policy{Hide: []string{"/usr"}, Protect: func() []string { return []string{"/etc"} }, Write: []string{"/"}}).mounts(p, nil, "")
	}
	rules, err := newRuleset(false)
	if err != nil {
		return err
	}
	defer rules.close()
	var told *passes
	if telling {
		if told, err = newPasses(); err != nil {
			return err
		}
		defer told.close()
	}
	code := filter()
	if telling {
		code = tellingFilter()
	}
	bind(p, rules, told, code)
	return p.help(false)
}

// enter returns the namespaces and counts a user of them.
func (b *Box) enter() (*spaces, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errors.New("the sandbox is closed")
	}
	if b.spaces == nil {
		s, err := b.newSpaces()
		if err != nil {
			return nil, err
		}
		b.spaces = s
	}
	if b.idle != nil {
		b.idle.Stop()
		b.idle = nil
	}
	b.users++
	return b.spaces, nil
}

func (b *Box) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users--; b.users > 0 || b.spaces == nil {
		return
	}
	if b.closed {
		b.drop()
		return
	}
	b.idle = time.AfterFunc(idleTime, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.users == 0 {
			b.drop()
		}
	})
}

// drop releases the namespaces. The caller holds mu.
func (b *Box) drop() {
	if b.spaces != nil {
		b.spaces.close()
		b.spaces = nil
	}
}

// Hold returns a file that keeps the namespaces alive as long as any process has it
// open; nil if there are none. Whoever gets it closes it.
func (b *Box) Hold() *os.File {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spaces == nil {
		return nil
	}
	fd, err := unix.FcntlInt(b.spaces.pipe.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil
	}
	b.spaces.held = true
	return os.NewFile(uintptr(fd), "sandbox")
}

// Close releases the namespaces once nothing uses them. It does not wait for processes.
func (b *Box) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.idle != nil {
		b.idle.Stop()
		b.idle = nil
	}
	if b.users == 0 {
		b.drop()
	}
	return nil
}

// Listen returns a listener on the loopback interface of the box's own network, which
// lathe serves and the processes of the box reach. It lasts until it is closed, and
// keeps the namespaces in the meantime.
func (b *Box) Listen() (net.Listener, error) {
	s, err := b.enter()
	if err != nil {
		return nil, err
	}
	l, err := s.listen(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0))
	if err != nil {
		b.leave()
		return nil, err
	}
	return &inner{Listener: l, leave: sync.OnceFunc(b.leave)}, nil
}

// inner is a listener in the network of a box.
type inner struct {
	net.Listener
	leave func()
}

func (l *inner) Close() error {
	defer l.leave()
	return l.Listener.Close()
}

// spaces are the namespaces of a box. The first process of the pid namespace holds
// them: it waits until a pipe that only lathe holds is closed, so that everything ends
// with lathe, and lets the kernel collect orphans.
type spaces struct {
	holder  *os.Process
	pipe    *os.File
	fds     []int // user, net, ipc, pid
	network Network
	leader  func(int, bool)
	held    bool // another process holds them, too
}

// holders are programs that do nothing until their input ends.
var holders = []string{"/bin/cat", "/usr/bin/cat", "/run/current-system/sw/bin/cat"}

func (b *Box) newSpaces() (*spaces, error) {
	s := &spaces{network: b.opts.Network, leader: b.opts.Leader}
	if err := s.make(); err != nil {
		s.close()
		return nil, fmt.Errorf("make namespaces: %w", err)
	}
	s.fewer(b.opts.Limits.Most())
	return s, nil
}

func (s *spaces) make() error {
	at := slices.IndexFunc(holders, func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	})
	if at < 0 {
		return errors.New("cat, which holds the namespaces, was not found")
	}
	if err := s.hold(holders[at]); err != nil {
		return err
	}
	if err := s.mapUsers(); err != nil {
		return err
	}
	for _, name := range []string{"user", "net", "ipc", "pid"} {
		if name == "net" && s.network == HostNetwork {
			continue
		}
		fd, err := unix.Open(s.proc("ns/"+name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open namespace %s: %w", name, err)
		}
		s.fds = append(s.fds, fd)
	}
	return s.up()
}

// empty reports whether no process is left in the namespaces, but for the first ones of
// commands and what descends from those. Whatever loses its parent there becomes a child of
// the holder, in one step, and the kernel finds a list of children empty under the same lock.
func (s *spaces) empty() bool {
	raw, err := os.ReadFile(s.proc("task/" + strconv.Itoa(s.holder.Pid) + "/children"))
	return err == nil && len(raw) == 0
}

func (s *spaces) proc(name string) string {
	return "/proc/" + strconv.Itoa(s.holder.Pid) + "/" + name
}

// hold starts the process that holds the namespaces.
func (s *spaces) hold(program string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	s.pipe = w
	p := newProgram()
	p.flags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWIPC
	if s.network == OwnNetwork {
		p.flags |= unix.CLONE_NEWNET
	}
	ignored := &[4]uintptr{1} // struct sigaction with SIG_IGN
	p.add("ignore the end of children", unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), pointer(p, ignored), 0, 8)
	p.add("begin a session", unix.SYS_SETSID)
	p.files([]*os.File{r, null, null})
	p.add("change directory", unix.SYS_CHDIR, p.str("/"))
	p.add("execute", unix.SYS_EXECVE, p.str(program), p.strs([]string{"lathe-sandbox"}), p.strs(nil))
	pid, failed, errno := p.run(false)
	runtime.KeepAlive(r)
	if errno != 0 {
		return fmt.Errorf("%s: %w", failed, errno)
	}
	if s.leader != nil {
		s.leader(pid, true)
	}
	s.holder, err = os.FindProcess(pid)
	return err
}

// mapUsers maps this namespace's users into the new one: all of them if lathe is
// root, otherwise only its own.
func (s *spaces) mapUsers() error {
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		err := s.mapAll()
		if err == nil {
			return nil
		}
	}
	if err := os.WriteFile(s.proc("setgroups"), []byte("deny"), 0); err != nil {
		return err
	}
	if err := os.WriteFile(s.proc("uid_map"), fmt.Appendf(nil, "%d %d 1\n", uid, uid), 0); err != nil {
		return err
	}
	return os.WriteFile(s.proc("gid_map"), fmt.Appendf(nil, "%d %d 1\n", gid, gid), 0)
}

func (s *spaces) mapAll() error {
	for _, name := range []string{"uid_map", "gid_map"} {
		raw, err := os.ReadFile("/proc/self/" + name)
		if err != nil {
			return err
		}
		text, err := identity(string(raw))
		if err != nil {
			return err
		}
		if err := os.WriteFile(s.proc(name), []byte(text), 0); err != nil {
			return err
		}
	}
	return nil
}

// up brings up the loopback interface of a new network.
func (s *spaces) up() error {
	if s.network == HostNetwork {
		return nil
	}
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	p := newProgram()
	fd := new(uintptr)
	s.reach(p, unix.AF_INET, unix.SOCK_DGRAM, fd)
	up := p.add("bring up the loopback interface", unix.SYS_IOCTL, 0, unix.SIOCSIFFLAGS, pointer(p, req))
	up.arg0 = fd
	return p.help(false)
}

// reach adds the steps of a helper that opens a socket of the namespaces' network.
func (s *spaces) reach(p *program, family, kind uintptr, fd *uintptr) {
	reach(p, s.fds[0], s.fds[1], family, kind, fd)
}

func reach(p *program, user, network int, family, kind uintptr, fd *uintptr) {
	p.keep = append(p.keep, fd)
	p.add("enter the user namespace", unix.SYS_SETNS, uintptr(user), unix.CLONE_NEWUSER)
	p.add("enter the network", unix.SYS_SETNS, uintptr(network), unix.CLONE_NEWNET)
	p.add("open a socket", unix.SYS_SOCKET, family, kind|unix.SOCK_CLOEXEC, 0).save = fd
}

// join adds the steps with which a process enters the namespaces. The pid namespace is
// that of its children.
func (s *spaces) join(p *program) {
	for _, fd := range s.fds {
		p.add("enter a namespace", unix.SYS_SETNS, uintptr(fd), 0)
	}
}

func (s *spaces) close() {
	for _, fd := range s.fds {
		_ = unix.Close(fd)
	}
	if s.pipe != nil {
		_ = s.pipe.Close()
	}
	if s.holder == nil {
		return
	}
	if s.held {
		_ = s.holder.Release()
		return
	}
	_ = s.holder.Kill()
	_, _ = s.holder.Wait()
	if s.leader != nil {
		s.leader(s.holder.Pid, false)
	}
}

// giveWay makes the kernel end commands before lathe or an editor when memory runs
// out.
func giveWay(pid int) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_, _ = unix.Write(fd, []byte("500"))
	_ = unix.Close(fd)
}

// begin adds what a process does first. It is marked before it leaves lathe's session.
func (proc *Process) begin(p *program) {
	p.add("set the mark", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_RTTIME, pointer(p, &unix.Rlimit{Cur: proc.Mark.Cur, Max: proc.Mark.Max}), 0)
	p.add("begin a session", unix.SYS_SETSID)
}

// become adds the steps that give the process its final identity and limits.
func (proc *Process) become(p *program, rules *ruleset, told *passes, code []unix.SockFilter) {
	p.add("change to "+proc.Dir, unix.SYS_CHDIR, p.str(proc.Dir))
	p.files(proc.Files)
	if proc.Terminal {
		p.add("take the terminal", unix.SYS_IOCTL, 0, unix.TIOCSCTTY, 0)
	}
	if proc.EndsWithLathe {
		p.add("end with lathe", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	}
	bind(p, rules, told, code)
	p.add("execute", unix.SYS_EXECVE, p.str(proc.Path), p.strs(proc.Args), p.strs(proc.Env))
}

// rootsCapabilities are what root keeps in a sandbox: what building and installing
// need below the directories that may be written.
var rootsCapabilities = []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL,
	unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_CHROOT, unix.CAP_SETFCAP}

// bind adds what binds a process for the rest of its life. With told the filter says
// what it is asked; then something has to listen.
func bind(p *program, rules *ruleset, told *passes, code []unix.SockFilter) {
	if os.Geteuid() == 0 {
		for c := range uintptr(unix.CAP_LAST_CAP + 1) {
			if !slices.Contains(rootsCapabilities, c) {
				p.add("drop a capability", unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0).mayFail = true
			}
		}
	}
	p.add("give up privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	p.add("confine files", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules.fd), 0)
	flags := uintptr(unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW)
	if told != nil {
		flags |= unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	fprog := &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	p.keep = append(p.keep, code)
	confine := p.add("confine system calls", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, pointer(p, fprog))
	if told != nil {
		confine.save = told.listener()
		told.add(p)
	}
}

// files gives the process its descriptors. They are first copied above all others, so
// that none is overwritten before it is in its place, and all others are closed. Fd
// makes them block, which programs expect.
func (p *program) files(files []*os.File) {
	above := uintptr(len(files) + 64)
	for i, f := range files {
		if f == nil {
			continue
		}
		at := new(uintptr)
		p.keep = append(p.keep, at, f)
		p.add("copy a descriptor", unix.SYS_FCNTL, f.Fd(), unix.F_DUPFD_CLOEXEC, above).save = at
		p.late = append(p.late, late{at, uintptr(i)})
	}
	p.add("close descriptors on exec", unix.SYS_CLOSE_RANGE, 3, uintptr(^uint32(0)), unix.CLOSE_RANGE_CLOEXEC).mayFail = true
	for _, l := range p.late {
		p.add("place a descriptor", unix.SYS_DUP3, 0, l.to, 0).arg0 = l.from
	}
	p.late = nil
}

type late struct {
	from *uintptr
	to   uintptr
}

// help runs a helper to its end. With files it shares lathe's descriptors.
func (p *program) help(files bool) error {
	p.add("end", unix.SYS_EXIT, 0)
	pid, failed, errno := p.run(files)
	if errno != 0 {
		return fmt.Errorf("%s: %w", failed, errno)
	}
	var status unix.WaitStatus
	_, err := unix.Wait4(pid, &status, 0, nil)
	if err == nil && status.ExitStatus() != 0 {
		err = errors.New("the process did not start")
	}
	if err == syscall.ECHILD { // collected with a command's orphans
		err = nil
	}
	return err
}
