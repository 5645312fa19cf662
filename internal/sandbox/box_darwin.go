package sandbox

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// seatbelt is the system's own program that confines another.
const seatbelt = "/usr/bin/sandbox-exec"

// Box starts processes that Seatbelt confines. It has not been tried on a Mac yet.
type Box struct{ opts Options }

// NewBox returns a box in which nothing runs yet.
func NewBox(o Options) *Box { return &Box{opts: o} }

// Start starts a process in a session of its own, confined by a policy.
func (b *Box) Start(proc Process, policy Policy) (*Run, error) {
	if policy.Required {
		return nil, ErrLevel
	}
	if len(policy.Overlays) > 0 {
		return nil, ErrOverlay
	}
	args := append([]string{seatbelt, "-p", policy.Seatbelt(), proc.Path}, proc.Args[1:]...)
	attr := &os.ProcAttr{Dir: proc.Dir, Env: proc.Env, Files: proc.Files, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: proc.Terminal}}
	guard := policy.guard(Files)
	run, err := os.StartProcess(seatbelt, args, attr)
	if err != nil {
		return nil, err
	}
	return &Run{PID: run.Pid, Level: Files, check: guard.check, leave: func() {}}, nil
}

// Level is [Files] where the system has Seatbelt.
func (b *Box) Level() Level {
	if b.opts.Most != nil {
		return min(Detect(), *b.opts.Most)
	}
	return Detect()
}

// HasNetwork is false: there are no separate networks.
func (b *Box) HasNetwork() bool { return false }

// Detect is [Files] where the system has Seatbelt.
func Detect() Level {
	if _, err := os.Stat(seatbelt); err != nil {
		return RulesOnly
	}
	return Files
}

// Missing says why it is not more.
func Missing() string { return "macOS has no namespaces" }

// Listen fails.
func (b *Box) Listen() (net.Listener, error) { return nil, errors.ErrUnsupported }

// Hold returns nil.
func (b *Box) Hold() *os.File { return nil }

// Close does nothing.
func (b *Box) Close() error { return nil }

// Attend has nothing to do on this system.
func Attend(*os.File, []*os.File, string) {}
