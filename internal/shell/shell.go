// Package shell runs commands for tools. What a command would do is judged beforehand, by package judge.
//
// A [Runner] starts all processes of tools: a command with [Runner.Run], one that keeps running with
// [Runner.Start], and a program with pipes of its own, such as a server, with [Runner.Open]. Run merges
// standard output and error in order, keeps nothing in memory itself, and lets no process of the command
// outlive the call: on Linux every process that descends from a command carries two marks, a resource
// limit that nothing else uses and an environment variable, so that it is found whatever session, group
// or parent it moved to; and a process that drops both becomes a child of lathe that lathe did not
// start, which also counts as a command's. A supervisor process ends the marked processes when lathe
// itself is killed.
//
// shell.go has commands and the one place where a process is launched; open.go has programs, live.go what
// runs without a call, pipes.go the files of both. Finding and ending every process is most of the rest:
// mark_linux.go sets and reads the marks, born_linux.go marks a process before it runs, tree.go knows what
// belongs to which call, stray_linux.go finds what dropped its marks and chase_linux.go what keeps forking,
// run_linux.go ends them all, and supervise.go does so after lathe. confine.go puts processes into a sandbox;
// stuck.go notices those that wait for a terminal; parts.go reads the exit codes of a pipeline; holder.go
// says which process has a socket open; handover.go leaves a process to a keeper; spool.go keeps output in
// bounded memory.
package shell

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lathe/internal/sandbox"
)

const (
	defaultGrace = 250 * time.Millisecond
	defaultDrain = 100 * time.Millisecond
	defaultTyped = 2 * time.Second
	maxScript    = 120 << 10            // Linux takes at most 128 KiB in one argument
	maxPipe      = 2 << 20              // output that can wait in a pipe
	maxNames     = 8                    // left-over processes that are named
	quickStart   = 2 * time.Millisecond // a shell that ended faster has left no process behind
	maxDying     = 10 * time.Second     // a busy machine takes its time to end what was killed
)

// Command is a script for a shell. The shell gets no standard input.
type Command struct {
	Script  string
	Dir     string   // working directory, absolute
	Env     []string // the whole environment; see [Env]
	Shell   string   // path of the shell; empty means [Choose] on Env
	Timeout time.Duration
	// Parts asks for the exit codes of the parts of a pipeline that ends the script,
	// which bash and zsh can report; see [Exit].
	Parts bool
	// Output gets standard output and error as they arrive, one call at a time.
	// The bytes are only valid during the call. A slow Output slows the command.
	Output func(chunk []byte)
	// Once Keep is closed, the command keeps running without the call; see
	// [Exit.Live]. Nil means never.
	Keep <-chan struct{}
	// Adopt keeps what outlives the shell running, where its processes can be
	// identified (Linux); see [Exit.Live]. Otherwise they are ended.
	Adopt bool
	// Network is the command's way to other hosts; nil: it has none of its own. It is
	// closed when the command and all that it started are gone, or if it did not start.
	Network Network
	// Kind says who it is for; empty means [KindCommand].
	Kind Kind
	// Allow is what the command may do in addition, although it is confined.
	Allow sandbox.Grant
	// Confine says how it is confined; nil: as the Runner's other processes.
	Confine Confine
}

// Network is the way of one command to other hosts.
type Network interface {
	// Waited is how long the command has waited so far for a person to say whether it
	// may reach a host: that does not count towards its Timeout.
	Waited() time.Duration
	Close()
}

// Neighbours is a Network that also says whether a command in a network of its own may
// reach a server of this machine; see [sandbox.Near].
type Neighbours interface {
	Near(to netip.AddrPort) (serve func(net.Listener), ok bool)
}

func closeNetwork(n Network) {
	if n != nil {
		n.Close()
	}
}

// Exit is how a command ended.
type Exit struct {
	Code     int    // exit status; -1 if a signal ended the shell
	Signal   string // name of that signal, such as "killed"
	TimedOut bool   // stopped because Timeout passed
	Aborted  bool   // stopped because the context ended
	// Waiting says what the command waited for when it was stopped because it waited
	// for keys on a terminal where nobody is (on Linux); else empty.
	Waiting  string
	Duration time.Duration
	// Parts are the exit codes of the parts of the script's last pipeline, if Command
	// asked for them and the shell reported them.
	Parts []int
	// Leftover names processes that outlived the shell and were ended with it.
	Leftover []string
	// Kept says that the command itself is still running, as Live.
	Kept bool
	// Handed says that it was handed to a keeper; see [Process.HandOver].
	Handed bool
	// Live is what is still running after the call: the command, or what it left
	// behind; nil if nothing is. Whoever receives it stops it.
	Live *Process
	// Level is how far the command was confined, and Refused what it was refused or had
	// undone, as far as that is known.
	Level   sandbox.Level
	Refused []sandbox.Refusal
	// OutOfMemory says that the kernel ended a process meanwhile because the machine had no
	// memory left, as far as that can be told.
	OutOfMemory bool
	// Hidden lists what it could not read; nil: it was not confined.
	Hidden func() []string
	// Lost are addresses to which it connected although no way leads there from a network
	// of its own.
	Lost []netip.AddrPort
}

// Options set up a [Runner].
type Options struct {
	// Supervisor is the command line that runs [SupervisorMain], usually the
	// running program and "__supervise". Empty means no supervisor: if lathe is
	// killed, processes that detached from their parent are then left behind.
	Supervisor []string
	Grace      time.Duration // from the request to stop to the kill; 0 means 250 ms
	Drain      time.Duration // for output after the shell has exited; 0 means 100 ms
	Typed      time.Duration // for a process to read its input; 0 means 2 s
	// Hide is called before the first command, usually [HideSelf]; nil means nothing.
	Hide func() error
	// Patience is how long a command may be silent before lathe checks whether it
	// waits for a terminal; 0 means 2 s.
	Patience time.Duration
}

// Runner runs commands. It is safe for concurrent use; a process needs one, and views
// of it with [Runner.Confined].
type Runner struct {
	*machine
	confine Confine // nil: processes are not confined
}

// machine is what all views of a Runner share.
type machine struct {
	opts Options
	*tree

	lastOther atomic.Int64 // the process that [Runner.Holder] found last, if not a command's

	hide    sync.Once
	hideErr error

	counting sync.Once // sets starved
	starved  atomic.Uint64

	supervising sync.Mutex // guards what follows
	sup         *supervisor
	supErr      error
	closed      bool
	handed      []uint64 // calls that were handed to keepers
}

// New returns a Runner. Nothing is started before the first command.
func New(opts Options) *Runner {
	if opts.Grace <= 0 {
		opts.Grace = defaultGrace
	}
	if opts.Patience <= 0 {
		opts.Patience = defaultPatience
	}
	if opts.Drain <= 0 {
		opts.Drain = defaultDrain
	}
	if opts.Typed <= 0 {
		opts.Typed = defaultTyped
	}
	return &Runner{machine: &machine{opts: opts, tree: processTree()}}
}

// Run runs one command without a supervisor; see [Runner.Run].
func Run(ctx context.Context, c Command) (Exit, error) {
	return New(Options{}).Run(ctx, c)
}

// Close ends the supervisor and returns once it is gone. Commands still running
// are not waited for; the supervisor ends them.
func (r *Runner) Close() error {
	r.supervising.Lock()
	sup, err, handed := r.sup, r.supErr, r.handed
	r.sup, r.closed, r.handed = nil, true, nil
	r.supervising.Unlock()
	if sup != nil {
		err = sup.close()
		r.help(sup.proc.Pid, false)
	}
	for _, call := range handed {
		r.leave(call)
	}
	return errors.Join(err, r.hideErr)
}

// Run runs the command and returns when it and every process it started are
// gone. When the context ends or the timeout passes, all of them are asked to
// stop and killed after the grace; Exit says so, and it is not an error; nor is
// a non-zero exit code. An error means that the command could not be started or
// could not be ended.
func (r *Runner) Run(ctx context.Context, c Command) (exit Exit, err error) {
	defer func() {
		if exit.Live == nil {
			closeNetwork(c.Network)
		}
	}()
	if ctx.Err() != nil {
		return Exit{Code: -1, Aborted: true}, nil
	}
	if err := c.check(); err != nil {
		return Exit{}, err
	}
	begin := time.Now()
	p, err := r.beginCommand(c, pipes{})
	if err != nil {
		return Exit{}, err
	}
	exit, err = r.finish(ctx, p, c)
	exit.Duration = time.Since(begin)
	if exit.Live == nil {
		r.leave(p.mark.call)
	}
	return exit, err
}

// begin starts a call. Whoever ends it calls leave.
func (r *Runner) begin(start func(call uint64) (*process, error)) (*process, error) {
	call := r.calls.Add(1)
	r.enter(call)
	if r.opts.Hide != nil {
		r.hide.Do(func() { r.hideErr = r.opts.Hide() })
	}
	closeOnExec()
	r.supervise()
	p, err := start(call)
	if err != nil {
		r.leave(call)
	}
	return p, err
}

// beginCommand starts a call whose process is a shell.
func (r *Runner) beginCommand(c Command, with pipes) (*process, error) {
	return r.begin(func(call uint64) (*process, error) { return r.start(c, call, with) })
}

func (c *Command) check() error {
	if strings.ContainsRune(c.Script, 0) {
		return errors.New("run command: the script contains a NUL character; remove it")
	}
	if len(c.Script) > maxScript {
		return fmt.Errorf("run command: the script has %d bytes, more than %d; write it to a file and run that", len(c.Script), maxScript)
	}
	return checkDir("run command", c.Dir)
}

func checkDir(doing, dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("%s in %q: %w", doing, dir, unwrapPath(err))
	}
	if !info.IsDir() {
		return fmt.Errorf("%s in %q: not a directory", doing, dir)
	}
	return nil
}

// unwrapPath leaves out the operation and path that the caller already names.
func unwrapPath(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// process is a started command.
type process struct {
	r      *Runner
	proc   *os.Process
	out    *os.File // read end of the output, or its terminal
	in     *os.File // write end of the input, or its terminal; nil: there is none
	mark   mark
	free   bool     // it may outlive lathe: the kernel does not end it with that
	told   *os.File // from which the exit codes of the shell's parts are read when it has ended; may be nil
	bounds bounds

	exited  chan struct{} // closed when state is set
	state   *os.ProcessState
	parts   []int         // likewise
	drained chan struct{} // closed when the output ended
	read    atomic.Int64  // bytes of output so far
	busy    atomic.Bool   // the output is being taken

	network Network // may be nil

	taking sync.Mutex // held while output is taken
	output func([]byte)

	sizing sync.Mutex // guards closed, and the size against it
	closed bool
}

// start starts the shell of a command.
func (r *Runner) start(c Command, call uint64, with pipes) (*process, error) {
	sh := c.Shell
	if sh == "" {
		sh = Choose(c.Env)
	}
	ends, err := with.open()
	if err != nil {
		return nil, fmt.Errorf("run command: %w", err)
	}
	defer ends.closeChild()
	script, files := c.Script, ends.child[:]
	var told, end *os.File
	if trap := partsTrap(sh); c.Parts && trap != "" {
		script, files, told, end = askParts(trap, script, files)
		defer end.Close()
	}
	p := &process{r: r, out: ends.out, in: ends.in, output: c.Output, told: told, network: c.Network}
	err = p.launch(launch{path: sh, args: shellArgs(sh, script), dir: c.Dir, env: c.Env, files: files, call: call, pipes: with, kind: c.Kind, allow: c.Allow, by: c.Confine, lasting: with.live})
	if err != nil {
		ends.closeOwn()
		readParts(told)
		return nil, fmt.Errorf("run command with shell %q: %w", sh, unwrapPath(err))
	}
	return p, nil
}

// launch is what a process is started with.
type launch struct {
	path  string
	args  []string
	dir   string
	env   []string
	files []*os.File
	call  uint64
	pipes pipes
	kind  Kind
	allow sandbox.Grant
	by    Confine // nil: as the Runner says
	// lasting says that it is a job; see [sandbox.Policy.Lasting].
	lasting bool
}

// launch starts the process and what looks after it. It is the only place where
// processes for tools, servers, hooks and the like begin.
func (p *process) launch(l launch) (err error) {
	p.mark = mark{instance: p.r.instance, call: l.call}
	p.free = l.pipes.live && p.r.supervised()
	known := p.r.starting.begin()
	defer known()
	confined, err := p.confined(l)
	if err == nil && !confined {
		attr := &os.ProcAttr{Dir: l.dir, Env: p.mark.env(l.env), Files: l.files, Sys: sysAttr()}
		l.pipes.attr(attr.Sys, p.free)
		p.proc, err = p.r.spawn(l.path, l.args, attr, p.mark)
	}
	if err != nil {
		return err
	}
	p.exited, p.drained = make(chan struct{}), make(chan struct{})
	if l.pipes.live {
		go p.waitIdly()
	} else {
		go p.wait() // ended by finish or attend, which wait for exited
	}
	go p.copy() // ended by settle, which waits for drained
	return nil
}

// spawn starts the shell with its marks. One is started at a time: if it can only be
// marked once it is running, a process that left it before must not be taken for
// another call's.
func (r *Runner) spawn(sh string, args []string, attr *os.ProcAttr, m mark) (*os.Process, error) {
	r.spawning.Lock()
	defer r.spawning.Unlock()
	begin := time.Now()
	proc, held, err := startMarked(sh, args, attr, func(pid int) {
		r.lead(m.call, pid)
		m.set(pid)
	})
	if err != nil {
		return nil, err
	}
	if !held && time.Since(begin) > quickStart {
		r.setLate(m, proc.Pid)
	}
	return proc, nil
}

func (p *process) wait() {
	p.state, _ = p.proc.Wait()
	p.parts = readParts(p.told)
	p.r.lead(p.mark.call, 0) // from here on the number may belong to another process
	close(p.exited)
}

// leader is the shell's process, or 0 when it has ended.
func (p *process) leader() int {
	select {
	case <-p.exited:
		return 0
	default:
		return p.proc.Pid
	}
}

func (p *process) copy() {
	defer close(p.drained)
	buf := make([]byte, 32<<10)
	for {
		n, err := p.out.Read(buf)
		if n > 0 {
			p.read.Add(int64(n))
			p.busy.Store(true)
			p.take(buf[:n])
			p.busy.Store(false)
		}
		if err != nil {
			return
		}
	}
}

func (p *process) take(chunk []byte) {
	p.taking.Lock()
	defer p.taking.Unlock()
	if p.output != nil {
		p.output(chunk)
	}
}

// follow sends the output elsewhere. The function that took it so far is no
// longer called when it returns.
func (p *process) follow(output func([]byte)) {
	p.taking.Lock()
	defer p.taking.Unlock()
	p.output = output
}

// finish waits for the end of the shell and clears up behind it.
func (r *Runner) finish(ctx context.Context, p *process, c Command) (Exit, error) {
	var exit Exit
	expired := c.deadline()
	defer expired.Stop()
	watch := p.watch(r.opts.Patience)
	select {
	case <-p.exited:
	case exit.Waiting = <-watch.found:
	case <-c.Keep:
		watch.stop()
		p.bounds.publish()
		p.bounds.outlive(&exit)
		exit.Code, exit.Kept, exit.Live = -1, true, p.live()
		return exit, nil
	case <-ctx.Done():
		exit.Aborted = true
	case <-expired.passed:
		exit.TimedOut = true
	}
	watch.stop()
	if exit.Aborted || exit.TimedOut || exit.Waiting != "" {
		p.terminate(r.opts.Grace)
	} else {
		waitEither(p.drained, ctx.Done(), r.opts.Drain)
		live, nothing := false, false
		if c.Adopt && ctx.Err() == nil {
			live, nothing = p.remains()
		}
		switch {
		case live:
			p.describe(&exit)
			p.bounds.publish()
			p.bounds.outlive(&exit)
			exit.Live = p.live()
			return exit, nil
		case !nothing: // a look costs a system call for each process of the machine
			exit.Leftover = p.sweep(r.opts.Drain)
		}
	}
	err := p.settle()
	p.describe(&exit)
	p.bounds.end(&exit)
	return exit, err
}

// terminate ends the whole tree: first politely, then by force.
func (p *process) terminate(grace time.Duration) {
	p.signalTree(false)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for _, done := range []<-chan struct{}{p.exited, p.drained} {
		select {
		case <-done:
		case <-timer.C:
			p.signalTree(true)
			return
		}
	}
	p.signalTree(true)
}

// settle waits for what was killed and for the rest of the output. A process can
// only survive while the kernel holds it; an unrelated one (started by sudo) can
// hold the output open, which shows in its silence or in more output than a pipe
// can hold.
func (p *process) settle() error {
	defer p.close()
	gone := waitEither(p.exited, nil, maxDying)
	last, most := int64(-1), p.read.Load()+maxPipe
	for !waitEither(p.drained, nil, defaultDrain) {
		n, busy := p.read.Load(), p.busy.Load()
		if !busy && n == last || n > most {
			_ = p.out.SetReadDeadline(time.Unix(1, 0))
			<-p.drained
			break
		}
		last = n
	}
	if !gone {
		return fmt.Errorf("run command: process %d does not end although it was killed", p.proc.Pid)
	}
	return nil
}

func (p *process) describe(exit *Exit) {
	exit.Code = -1
	select {
	case <-p.exited:
	default:
		return
	}
	if p.state == nil {
		return
	}
	exit.Code, exit.Parts = p.state.ExitCode(), p.parts
	exit.Signal = signalName(p.state)
}

// waitEither waits for a, b or the time and reports whether a came.
func waitEither(a, b <-chan struct{}, d time.Duration) bool {
	select {
	case <-a: // without a timer in the common case
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-a:
		return true
	case <-b:
	case <-timer.C:
	}
	return false
}
