package shell

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"lathe/internal/sandbox"
)

// Confine says how processes of a kind are confined: in which box, nil for none, and by
// what policy.
type Confine func(kind Kind) (*sandbox.Box, sandbox.Policy)

// Confined returns a view of the same Runner whose processes are confined. Only the original needs to be closed.
func (r *Runner) Confined(by Confine) *Runner { return &Runner{machine: r.machine, confine: by} }

// Hold notes that a process holds the namespaces of a sandbox, or that it is gone.
// Processes that lose their parent in there become its children.
func (r *Runner) Hold(pid int, runs bool) { r.help(pid, runs) }

// bounds is what is known of a confined process.
type bounds struct {
	box *sandbox.Box
	run *sandbox.Run
	// starved is how often the machine's memory had run out when that was looked at last.
	starved *atomic.Uint64
}

// confined starts the process in its box, and reports false if it has none.
func (p *process) confined(l launch) (bool, error) {
	held := len(l.allow.Overlays) > 0
	by := p.r.confine
	if by != nil && l.by != nil {
		by = l.by
	}
	if by == nil {
		return held, heldErr(held)
	}
	kind := l.kind
	if kind == "" {
		kind = KindCommand
	}
	box, policy := by(kind)
	if l.lasting {
		policy.Lasting = true
	}
	switch {
	case box == nil:
		return held, heldErr(held)
	case box.Level() == sandbox.RulesOnly && !policy.Required:
		return held, heldErr(held)
	}
	run := sandbox.Process{
		Path: l.path, Args: l.args, Dir: l.dir, Env: p.mark.env(l.env), Files: l.files,
		Terminal: l.pipes.Terminal, EndsWithLathe: !p.free, Mark: p.mark.limit(),
	}
	if n, ok := p.network.(Neighbours); ok {
		run.Near = n.Near
	}
	started, err := box.Start(run, policy.With(l.allow))
	if err != nil {
		return true, err
	}
	p.r.lead(p.mark.call, started.PID)
	p.r.counting.Do(func() { p.r.starved.Store(outOfMemory()) }) // once: it takes 0.1 ms
	p.bounds = bounds{box: box, run: started, starved: &p.r.starved}
	p.proc, err = os.FindProcess(started.PID)
	if err != nil {
		return true, fmt.Errorf("find process %d: %w", started.PID, err)
	}
	return true, nil
}

// heldErr keeps a process from running unconfined whose changes are to be held back.
func heldErr(held bool) error {
	if held {
		return sandbox.ErrOverlay
	}
	return nil
}

// outlive says that the process goes on while others work in the same places.
func (b *bounds) outlive(exit *Exit) {
	if b.run != nil {
		exit.Level, exit.Refused = b.run.Level, b.run.Outlive()
	}
}

// end says that all processes are gone, and tells what was taken back of their work.
func (b *bounds) end(exit *Exit) {
	if b.run != nil {
		exit.Level, exit.Lost = b.run.Level, b.run.Lost()
		exit.Refused, exit.Hidden = b.run.Ended(), b.run.Hidden
		if killed := exit.Signal == "killed" || exit.Code == 137; killed && !exit.TimedOut && !exit.Aborted {
			now := outOfMemory()
			exit.OutOfMemory = b.starved.Swap(now) < now
		}
		b.run = nil
	}
}

// publish makes what the process serves in a network of its own reachable on the machine.
func (b *bounds) publish() {
	if b.run != nil {
		b.run.Publish()
	}
}

// keptVar tells a keeper which of its descriptors [sandbox.Attend] is for, and keptPorts
// how many before that are for its network, and which is for what.
const (
	keptVar   = "LATHE_KEPT_SANDBOX"
	keptPorts = "LATHE_KEPT_PORTS"
)

// handOver adds what a keeper has to hold for as long as the sandbox is needed.
func (b *bounds) handOver(files []*os.File, env []string) ([]*os.File, []string, error) {
	if b.run == nil {
		return files, env, nil
	}
	if hold := b.box.Hold(); hold != nil {
		files = append(files, hold)
	}
	network, words, err := b.run.ShareNetwork()
	files = append(files, network...)
	if err != nil {
		return files, env, err
	}
	told, err := b.run.Share()
	if err != nil || told == nil {
		return files, env, err
	}
	env = append(env, fmt.Sprintf("%s=%d %s", keptPorts, len(network), words))
	return append(files, told), append(env, keptVar+"="+strconv.Itoa(len(files))), nil
}

// release leaves the process to a keeper.
func (b *bounds) release() {
	if b.run != nil {
		b.run.Release()
	}
}

// AttendKept does for a process that was handed over what lathe did for its sandbox. A
// keeper calls it before it says that it is ready.
func AttendKept() {
	fd, err := strconv.Atoi(os.Getenv(keptVar))
	if err != nil || fd <= KeptReady {
		return
	}
	count, words, _ := strings.Cut(os.Getenv(keptPorts), " ")
	n, _ := strconv.Atoi(count)
	var network []*os.File
	for i := fd - n; n > 0 && i > KeptReady && i < fd; i++ {
		network = append(network, os.NewFile(uintptr(i), "sandbox"))
	}
	go sandbox.Attend(os.NewFile(uintptr(fd), "sandbox"), network, words)
}
