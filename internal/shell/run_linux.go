package shell

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const canSupervise = true

// The supervisor looks several times: a process shows no environment while it
// executes another program.
const (
	supervisorRounds = 5
	supervisorPause  = 20 * time.Millisecond
	maxHops          = 200 // of the rounds in which it kills processes that hop
)

// sysAttr puts the shell in its own session, away from lathe's terminal. The
// kernel kills it when the thread that started it ends, which for a Go program
// is when the program ends: the runtime keeps its threads, unless a goroutine
// exits while it is locked to one. lathe has none of those.
func sysAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

func supervisorAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// adoptOrphans makes lathe the new parent of its descendants' orphans, so that no
// process of a command leaves its tree, and dead ones can be collected. It is off
// between commands, because orphans of language servers and the like are not ours
// to collect.
func adoptOrphans(on bool) {
	var flag uintptr
	if on {
		flag = 1
	}
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, flag, 0, 0, 0)
}

// signalTree signals the command's group and every marked process. With kill it
// repeats until none is alive, since a process may fork while it is hunted.
func (p *process) signalTree(kill bool) {
	if !kill {
		if leader := p.leader(); leader != 0 {
			_ = unix.Kill(-leader, unix.SIGTERM)
			_ = unix.Kill(-leader, unix.SIGCONT)
		}
		for _, pid := range p.hunt() {
			_ = unix.Kill(pid, unix.SIGTERM)
		}
		return
	}
	_ = p.proc.Kill()
	p.clear()
}

// hunt lists the live processes of the command.
func (p *process) hunt() []int {
	pids, _ := p.hunted()
	return pids
}

// sweep ends what outlived the shell and returns the names.
func (p *process) sweep(grace time.Duration) []string {
	if p.quiet() {
		return nil
	}
	pids := p.hunt()
	var names []string // nil if everything ended by itself
	for i, pid := range pids {
		if i == maxNames {
			names = append(names, fmt.Sprintf("and %d more", len(pids)-maxNames))
			break
		}
		names = append(names, processName(pid))
	}
	endAll(pids, grace)
	if p.clear() && len(names) == 0 {
		names = append(names, "a program that started itself again and again")
	}
	return names
}

// SupervisorMain waits until standard input ends, then kills every process that
// carries the mark of the lathe process named by its one argument, except those of the
// calls that lathe named as handed over; see [Process.HandOver]. Commands call
// it as "<program> __supervise <instance>"; it returns the exit code.
func SupervisorMain(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "supervise: want one argument, the instance")
		return 2
	}
	instance, err := strconv.ParseUint(args[0], 16, 64)
	if err != nil || instance == 0 || instance > maxInstance {
		fmt.Fprintf(os.Stderr, "supervise: instance %q is not a number of 40 bits\n", args[0])
		return 2
	}
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	said, _ := io.ReadAll(io.LimitReader(os.Stdin, 64<<10))
	m := mark{instance: instance}
	rounds := supervisorRounds
	orderly, spared := parseQuit(said)
	if orderly {
		rounds = 1
	}
	for i := range rounds {
		if i > 0 {
			time.Sleep(supervisorPause)
		}
		killAll(func() []int { return m.but(spared) })
		for n := 0; !orderly && n < maxHops && m.chaseNewest(spared); n++ {
		}
	}
	return 0
}

func signalName(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}

// processName returns the command line of a process, for people.
func processName(pid int) string {
	raw, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	name := strings.TrimSpace(strings.ReplaceAll(string(raw), "\x00", " "))
	if name == "" {
		comm, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
		name = strings.TrimSpace(string(comm))
	}
	return clip(printable(name), 80)
}
