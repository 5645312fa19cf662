package job

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/shell"
)

// Info describes a job: a record, with one field for each fact.
type Info struct {
	ID      string
	Session lathe.SessionID // that it belongs to
	CallID  string          // the call that it comes from; may be empty
	Command string
	Title   string // what it is for, in a few words; may be empty
	Dir     string // where it runs
	// Directory is that of the session's instance.
	Directory string
	PID       int
	Terminal  bool // it has a terminal
	Left      bool // a command left it behind
	Started   time.Time
	Ended     time.Time // zero while it runs
	Stopped   bool      // somebody ended it
	Exit      shell.Exit
	Ports     []int // that it listens on
	// Elsewhere are those of them that this machine's programs find at another port,
	// since that one is taken.
	Elsewhere map[int]int
	Output    int64 // bytes so far
	Path      string
	Files     []string // that changed while it ran and that no tool changed, so usually by the job; absolute
	Lost      bool     // it ended with the lathe that ran it, before this one
	Kept      string   // the name under which it was left to the person; see [Manager.HandOver]
}

// Running reports whether the job has not ended.
func (i Info) Running() bool { return i.Ended.IsZero() }

// End says how the job ended, for people and models.
func (i Info) End() string {
	switch {
	case i.Running():
		return "running"
	case i.Kept != "":
		return "left to the user as " + i.Kept
	case i.Lost:
		return "ended with lathe"
	case i.Stopped:
		return "stopped"
	case i.Left:
		return "ended"
	case i.Exit.Signal != "":
		return "ended by a signal: " + i.Exit.Signal
	}
	return fmt.Sprintf("ended with exit code %d", i.Exit.Code)
}

// Job is a process of a session that lives on. It is safe for concurrent use.
type Job struct {
	m    *Manager
	proc *shell.Process // nil if it ran in a lathe that is gone
	note string         // the ledger's file about it; never changes
	out  *Output
	done chan struct{} // closed when it has ended and its end is noted

	mu      sync.Mutex
	info    Info
	seen    int64  // output that the model has seen
	alarm   string // first line since then that looks like an error
	told    bool   // whether the model was told of the alarm
	endTold bool
	dropped bool                 // no longer in the ledger
	line    []byte               // typed but not yet sent
	files   map[string]time.Time // that it changed, and when each change was last noticed
}

// Info describes the job, with the ports that it listens on now.
func (j *Job) Info() Info {
	var ports []int
	var elsewhere map[int]int
	if j.proc != nil {
		ports, elsewhere = j.proc.Ports(), j.proc.Elsewhere()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	info := j.info
	info.Files = slices.Clone(info.Files)
	info.Ports, info.Elsewhere, info.Output, info.Path = ports, elsewhere, j.out.Total(), j.out.Path()
	return info
}

// ID names the job in its process.
func (j *Job) ID() string { return j.info.ID } // never changes

// Output is what the job has printed.
func (j *Job) Output() *Output { return j.out }

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Write gives the job input, or keys if it has a terminal.
func (j *Job) Write(data []byte) error {
	if j.proc == nil {
		return shell.ErrNoInput
	}
	n, err := j.proc.Write(data)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.line = append(j.line, data[:n]...)
	if i := bytes.LastIndexAny(j.line, "\r\n\x03\x04\x15"); i >= 0 {
		j.line = append(j.line[:0], j.line[i+1:]...)
	}
	if extra := len(j.line) - maxLine; extra > 0 {
		j.line = append(j.line[:0], j.line[extra:]...)
	}
	return err
}

// maxLine bounds a line that is never ended.
const maxLine = 16 << 10

// Line returns the beginning of a line that was typed but not yet sent.
func (j *Job) Line() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return string(j.line)
}

// Key presses a named key; see [Keys]. Without a terminal only ctrl-c, which
// interrupts, ctrl-d, which ends the input, and enter mean something.
func (j *Job) Key(name string) error {
	code, ok := keys[strings.ToLower(name)]
	switch {
	case j.proc == nil:
		return shell.ErrNoInput
	case !ok:
		return fmt.Errorf("there is no key %q; there are %s", name, strings.Join(Keys(), ", "))
	case j.info.Terminal:
		return j.Write([]byte(code))
	case code == "\x03":
		return j.proc.Interrupt()
	case code == "\x04":
		return j.proc.CloseInput()
	case code == "\r":
		return j.Write([]byte("\n"))
	}
	return fmt.Errorf("the key %q needs a terminal; start the job with pty", name)
}

// Resize changes the size of the job's terminal.
func (j *Job) Resize(rows, cols uint16) error {
	if j.proc == nil {
		return shell.ErrNoInput
	}
	return j.proc.Resize(rows, cols)
}

// take is given what the job prints.
func (j *Job) take(chunk []byte) {
	j.mu.Lock()
	if j.alarm == "" && j.m.opts.Alarm != nil {
		j.alarm = j.m.opts.Alarm(chunk)
	}
	j.mu.Unlock()
	j.out.write(chunk)
}

// attend waits for the end and notes it.
func (j *Job) attend() {
	exit, err := j.proc.Exit()
	if err != nil {
		j.m.opts.Log.Error("a job could not be ended", "session", j.info.Session, "err", err)
	}
	j.mu.Lock()
	j.info.Ended, j.info.Exit = j.m.opts.Now(), exit
	j.info.Stopped = exit.Aborted
	j.mu.Unlock()
	j.out.end()
	j.m.noteEnd(j)
	j.m.ended(j)
	close(j.done)
}

// stop ends the job and returns when all of it is gone.
func (j *Job) stop(grace time.Duration) {
	if j.proc != nil {
		j.proc.Stop(grace)
	}
	<-j.done
}

// Look says what to wait for before new output is returned.
type Look struct {
	Until *regexp.Regexp // new output that matches; nil: nothing
	Idle  time.Duration  // this long without output; 0: do not wait for silence
	End   bool           // the end of the job
	For   time.Duration  // at most
}

// Seen is a job's new output: where it begins and ends, and why it is returned now.
type Seen struct {
	From, To int64
	Info     Info
	Matched  bool
	Idle     bool
}

// Look waits and returns what was printed since the last look. It counts as shown
// to the model. The end of ctx ends the wait.
func (j *Job) Look(ctx context.Context, l Look) Seen {
	j.mu.Lock()
	from := j.seen
	j.mu.Unlock()
	s := j.wait(ctx, l, from)
	s.From, s.Info = from, j.Info()
	s.To = s.Info.Output
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen, j.alarm, j.told = s.To, "", false
	if !s.Info.Running() && !j.endTold {
		j.endTold = true
		j.drop()
	}
	return s
}

func (j *Job) wait(ctx context.Context, l Look, from int64) (s Seen) {
	if l.Until == nil && l.Idle == 0 && !l.End {
		return s
	}
	limit := time.NewTimer(l.For)
	defer limit.Stop()
	var quiet <-chan time.Time
	idle := time.NewTimer(max(l.Idle, 1))
	defer idle.Stop()
	if l.Idle > 0 {
		quiet = idle.C
	}
	scan := scanner{out: j.out, at: from}
	for {
		at := j.out.Total() // taken first, so that output arriving from now on counts as new
		if l.Until != nil && scan.find(l.Until) {
			s.Matched = true
			return s
		}
		select {
		case <-j.done:
			s.Matched = l.Until != nil && scan.find(l.Until)
			return s
		case <-j.out.Next(at):
			idle.Reset(max(l.Idle, 1))
		case <-quiet:
			s.Idle = true
			return s
		case <-limit.C:
			return s
		case <-ctx.Done():
			return s
		}
	}
}

// scanner looks for a text in output that grows.
type scanner struct {
	out *Output
	at  int64 // position from which a match may still begin
}

const (
	window  = 64 << 10 // how much is searched at a time
	overlap = 4 << 10  // searched again, because a match may lie across two windows
)

func (s *scanner) find(re *regexp.Regexp) bool {
	for {
		data, at := s.out.Part(s.at, window)
		if len(data) == 0 {
			return false
		}
		if re.Match(data) {
			return true
		}
		s.at = at + int64(max(len(data)-overlap, 0))
		if len(data) < window {
			return false
		}
	}
}
