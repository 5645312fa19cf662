package shell

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"lathe/internal/sandbox"
)

// ErrNoInput means that a process has no input, or not any more.
var ErrNoInput = errors.New("the process takes no input")

// StartOptions say how a command is started that runs without a call.
type StartOptions struct {
	// Terminal gives the command a terminal of its own, with this many rows and
	// columns; without one its input is a pipe.
	Terminal   bool
	Rows, Cols uint16
}

// Process is a command that runs without a call: started by [Runner.Start], kept or
// left behind by [Runner.Run]. Its processes are marked like those of any command:
// they may not call lathe's server, and end when lathe does. It is safe for
// concurrent use. Stop it, unless it ends by itself.
type Process struct {
	p    *process
	pid  int
	run  *sandbox.Run // nil: it is not confined
	stop chan struct{}
	once sync.Once

	grace  time.Duration // set before stop is closed
	handed bool          // likewise: a keeper has it
	done   chan struct{} // closed when exit and err are set
	exit   Exit
	err    error
}

// Start starts a command and leaves it running. Its Timeout, Keep and Adopt are
// ignored. It ends when the shell and all that it started are gone.
func (r *Runner) Start(c Command, o StartOptions) (*Process, error) {
	err := c.check()
	var p *process
	if err == nil {
		p, err = r.beginCommand(c, pipes{live: true, StartOptions: o})
	}
	if err != nil {
		closeNetwork(c.Network)
		return nil, err
	}
	p.bounds.publish()
	return p.live(), nil
}

// live hands the rest of a call to a goroutine, which ends when all of it is gone.
func (p *process) live() *Process {
	l := &Process{p: p, pid: p.proc.Pid, run: p.bounds.run, stop: make(chan struct{}), done: make(chan struct{})}
	p.r.collectMeanwhile()
	go l.attend(time.Now())
	return l
}

// attend waits for the end of everything, or brings it about.
func (l *Process) attend(begin time.Time) {
	defer close(l.done)
	defer func() {
		if !l.exit.Handed { // otherwise its marks stay valid until the runner is closed
			l.p.r.leave(l.p.mark.call)
		}
		closeNetwork(l.p.network)
	}()
	select {
	case <-l.p.exited:
		l.p.awaitRest(l.stop)
	case <-l.stop:
	}
	select {
	case <-l.stop:
		if l.handed {
			l.p.close()
			l.exit = Exit{Code: -1, Handed: true, Duration: time.Since(begin)}
			return
		}
		l.exit.Aborted = true
		l.p.terminateWithin(l.grace)
	default:
		l.p.sweep(l.p.r.opts.Drain) // processes that lost their marks
	}
	l.err = l.p.settle()
	l.p.describe(&l.exit)
	l.p.bounds.end(&l.exit)
	l.exit.Duration = time.Since(begin)
}

// PID is the shell's process, which leads its group. It may have ended.
func (l *Process) PID() int { return l.pid }

// Done is closed when the command and all that it started are gone.
func (l *Process) Done() <-chan struct{} { return l.done }

// Exit waits for the end and returns how the shell ended. Aborted means that it was
// stopped. The error says that it could not be ended.
func (l *Process) Exit() (Exit, error) {
	<-l.done
	return l.exit, l.err
}

// Stop asks all processes to end, kills them after the grace, and waits for that. It
// may be called again, even when everything has ended; the first call's grace
// counts.
func (l *Process) Stop(grace time.Duration) {
	l.once.Do(func() {
		l.grace = grace
		close(l.stop)
	})
	<-l.done
}

// Follow sends the output to a function from now on; see [Command.Output]. The
// function that took it so far is no longer called when Follow returns.
func (l *Process) Follow(output func(chunk []byte)) { l.p.follow(output) }

// Write gives the process input: keys where it has a terminal. It fails when
// the input is not read within [Options.Typed], and says how much was taken.
func (l *Process) Write(data []byte) (int, error) {
	if l.p.in == nil {
		return 0, ErrNoInput
	}
	_ = l.p.in.SetWriteDeadline(time.Now().Add(l.p.r.opts.Typed)) // both kinds have deadlines
	n, err := l.p.in.Write(data)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, fmt.Errorf("the process does not read its input: %d of %d bytes were taken", n, len(data))
	case err != nil:
		return n, ErrNoInput
	}
	return n, nil
}

// CloseInput ends the input. A terminal is told by a key instead (Ctrl-D).
func (l *Process) CloseInput() error {
	if l.p.in == nil || l.p.in == l.p.out {
		return ErrNoInput
	}
	return l.p.in.Close()
}

// Interrupt sends what Ctrl-C sends.
func (l *Process) Interrupt() error {
	if l.p.in != nil && l.p.in == l.p.out {
		_, err := l.Write([]byte{3})
		return err
	}
	if leader := l.p.leader(); leader == 0 || !interruptGroup(leader) {
		return errors.New("the process cannot be interrupted; stop it")
	}
	return nil
}

// Resize changes the size of the terminal.
func (l *Process) Resize(rows, cols uint16) error {
	if l.p.in == nil || l.p.in != l.p.out {
		return errors.New("the process has no terminal")
	}
	return l.p.resize(rows, cols)
}

// PIDs lists the processes that are alive, where the system shows it.
func (l *Process) PIDs() []int {
	select {
	case <-l.done:
		return nil
	default:
		return l.p.alive()
	}
}

// Names returns the command lines of some processes, for people.
func (l *Process) Names() []string {
	var names []string
	for i, pid := range l.PIDs() {
		if i == maxNames {
			break
		}
		names = append(names, processName(pid))
	}
	return names
}

// Ports lists the TCP ports that the process listens on, where the system shows it.
func (l *Process) Ports() []int { return listening(l.PIDs()) }

// Elsewhere tells of the ports that it listens on in a network of its own, and that the
// machine's programs find at another one.
func (l *Process) Elsewhere() map[int]int {
	if l.run == nil {
		return nil
	}
	var other map[int]int
	for _, port := range l.run.Published() {
		if port.Port != port.At {
			if other == nil {
				other = map[int]int{}
			}
			other[port.Port] = port.At
		}
	}
	return other
}
