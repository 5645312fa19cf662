package job

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/shell"
)

const (
	maxRunning = 32 // jobs of one session
	maxEnded   = 16 // of one session that can still be read
	grace      = 2 * time.Second
	closeGrace = 500 * time.Millisecond
)

// ErrNotFound means that a session has no such job, or not any more.
var ErrNotFound = errors.New("no such job")

// Runner starts processes; *shell.Runner does.
type Runner interface {
	Start(c shell.Command, o shell.StartOptions) (*shell.Process, error)
}

// Options configure a [Manager]. Runner is needed.
type Options struct {
	Runner Runner
	Now    func() time.Time
	Log    *slog.Logger
	// Alarm returns the first line of some output that looks like an error, or "".
	Alarm func(chunk []byte) string
	// Keepers keep the jobs that are left to the person; with the zero value no job can be left.
	Keepers Keepers
	// Ledger remembers jobs for a later lathe; with the zero value nothing is remembered.
	Ledger Ledger
	// Mark ends the names of jobs, so that they differ from those of other processes that share
	// a store; "" where nobody asks for a job of another process.
	Mark string
	// Changed is told of a job that began or ended. It must not call the Manager.
	Changed func(Info)
}

// Manager owns the jobs of all sessions. It is safe for concurrent use. Close it.
type Manager struct {
	opts Options
	wg   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	last   int
	all    []*Job   // oldest first
	offers []*offer // oldest first
}

// NewManager returns a manager without jobs.
func NewManager(o Options) *Manager {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Manager{opts: o}
}

// Start describes a job to start.
type Start struct {
	Session   lathe.SessionID
	CallID    string
	Title     string
	Directory string
	Command   shell.Command // its Output is the job's
	shell.StartOptions
	// Runner starts it; nil: the manager's own does.
	Runner Runner
	// Create makes the file for the output; nil if no file is wanted.
	Create func() (*os.File, error)
}

// Start starts a job.
func (m *Manager) Start(s Start) (*Job, error) {
	if err := m.room(s.Session); err != nil {
		return nil, err
	}
	j := m.job(s)
	j.info.Terminal = s.Terminal
	s.Command.Output = j.take
	runner := s.Runner
	if runner == nil {
		runner = m.opts.Runner
	}
	proc, err := runner.Start(s.Command, s.StartOptions)
	if err != nil {
		return nil, err
	}
	m.add(j, proc)
	return j, nil
}

// Adopt turns what is still running after a command's call into a job: the command
// itself, if it was kept, or what it left behind. What cannot become a job is
// stopped, and the error says so. shown is the output so far, which the model has
// seen.
func (m *Manager) Adopt(s Start, exit shell.Exit, shown []byte) (*Job, error) {
	if err := m.room(s.Session); err != nil {
		exit.Live.Stop(0)
		return nil, err
	}
	j := m.job(s)
	if j.info.Left = !exit.Kept; j.info.Left {
		if names := exit.Live.Names(); len(names) > 0 {
			j.info.Command = strings.Join(names, "; ")
		}
	}
	j.out.write(shown)
	j.seen = int64(len(shown))
	exit.Live.Follow(j.take)
	m.add(j, exit.Live)
	return j, nil
}

func (m *Manager) job(s Start) *Job {
	return &Job{m: m, out: newOutput(s.Create), done: make(chan struct{}), info: Info{
		Session: s.Session, CallID: s.CallID, Command: s.Command.Script, Title: s.Title, Dir: s.Command.Dir, Directory: s.Directory,
		Started: m.opts.Now(),
	}}
}

// room says whether a session may have one more job.
func (m *Manager) room(id lathe.SessionID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return errors.New("lathe is ending, so no new job is started")
	}
	n := 0
	for _, j := range m.all {
		if j.info.Session == id && j.running() {
			n++
		}
	}
	if n >= maxRunning {
		return fmt.Errorf("this session has %s that run; stop one first", say.Plural(n, "job"))
	}
	return nil
}

func (m *Manager) add(j *Job, proc *shell.Process) {
	m.mu.Lock()
	j.info.ID = m.free()
	j.proc, j.info.PID = proc, proc.PID()
	m.all = append(m.all, j)
	late := m.closed
	m.mu.Unlock()
	m.note(j)
	m.change(j)
	m.wg.Go(j.attend)
	if late { // closed since room said yes
		j.stop(0)
	}
}

// free returns a name that no job has. The caller holds mu.
func (m *Manager) free() string {
	for {
		m.last++
		id := lathe.PrefixJob + "_" + strconv.Itoa(m.last)
		if m.opts.Mark != "" {
			id += "_" + m.opts.Mark
		}
		if !slices.ContainsFunc(m.all, func(j *Job) bool { return j.info.ID == id }) {
			return id
		}
	}
}

func (m *Manager) change(j *Job) {
	if m.opts.Changed != nil {
		m.opts.Changed(j.Brief())
	}
}

// Brief is [Job.Info] without looking at the processes, and so without ports.
func (j *Job) Brief() Info {
	j.mu.Lock()
	defer j.mu.Unlock()
	info := j.info
	info.Files = slices.Clone(info.Files)
	info.Output, info.Path = j.out.Total(), j.out.Path()
	return info
}

// Rename changes what the job is called.
func (j *Job) Rename(title string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.info.Title = title
}

func (j *Job) running() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.info.Running()
}

// ended forgets the oldest ended jobs of a session that has many.
func (m *Manager) ended(j *Job) {
	m.change(j)
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, o := range slices.Backward(m.all) {
		if o.info.Session != j.info.Session || o.running() {
			continue
		}
		if n++; n > maxEnded {
			m.forget(o)
		}
	}
}

// forget removes a job that has ended. The caller holds mu.
func (m *Manager) forget(j *Job) {
	m.all = slices.DeleteFunc(slices.Clone(m.all), func(o *Job) bool { return o == j })
	j.out.remove()
	if !m.closed { // else they ended with lathe, and the next lathe reports it
		j.mu.Lock()
		j.drop()
		j.mu.Unlock()
	}
}

// Of returns the jobs of a session, oldest first; an empty id means all.
func (m *Manager) Of(id lathe.SessionID) []*Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.all), func(j *Job) bool { return id != "" && j.info.Session != id })
}

// Running returns how many jobs of a session run; an empty id means all sessions.
func (m *Manager) Running(id lathe.SessionID) int {
	n := 0
	for _, j := range m.Of(id) {
		if j.running() {
			n++
		}
	}
	return n
}

// RunsAnywhere reports whether a job of a session runs, in this process or in another one of
// this machine.
func (m *Manager) RunsAnywhere(id lathe.SessionID) bool {
	return m.Running(id) > 0 || m.opts.Ledger.living(id)
}

// Get returns a job of a session; an empty session means any.
func (m *Manager) Get(session lathe.SessionID, id string) (*Job, error) {
	var found *Job
	for _, j := range m.Of(session) {
		if j.info.ID == id && (found == nil || j.proc != nil) { // a lost one may have the name of another session's
			found = j
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	return found, nil
}

// Stop ends a job and returns when all of it is gone. It stays among the ended ones,
// and the model is told; see [Manager.Forget].
func (m *Manager) Stop(j *Job) { j.stop(grace) }

// Forget removes a job that has ended, with its output.
func (m *Manager) Forget(j *Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(j)
}

// End stops the jobs of a session and forgets them, with their output.
func (m *Manager) End(id lathe.SessionID) {
	m.end(id, grace)
	m.opts.Ledger.forget(id)
}

func (m *Manager) end(id lathe.SessionID, grace time.Duration) {
	var wg sync.WaitGroup
	all := m.Of(id)
	for _, j := range all {
		wg.Go(func() { j.stop(grace) })
	}
	wg.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range all {
		m.forget(j)
	}
}

// Close stops all jobs and waits for that. It may be called twice.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.end("", closeGrace)
	m.wg.Wait()
}

// offer is a running command that can be turned into a job.
type offer struct {
	session lathe.SessionID
	callID  string
	keep    chan struct{}
}

// Offer says that the command of a call can be kept. The channel is closed when a
// person asks for it. Withdraw the offer when the call ends.
func (m *Manager) Offer(session lathe.SessionID, callID string) (keep <-chan struct{}, withdraw func()) {
	o := &offer{session, callID, make(chan struct{})}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offers = append(m.offers, o)
	return o.keep, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.offers = slices.DeleteFunc(m.offers, func(other *offer) bool { return other == o })
	}
}

// Keep turns the running command of a call into a job; without a call, the
// session's newest command.
func (m *Manager) Keep(session lathe.SessionID, callID string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, o := range slices.Backward(m.offers) {
		if o.session == session && (callID == "" || o.callID == callID) {
			m.offers = slices.Delete(m.offers, i, i+1)
			close(o.keep)
			return nil
		}
	}
	return fmt.Errorf("%w: no command is running that could be kept", ErrNotFound)
}

// News returns what the model of a session has not been told of its jobs, one line
// or a few for each: that one ended, or printed an error. What is returned counts
// as told.
func (m *Manager) News(id lathe.SessionID) []string {
	var out []string
	for _, j := range m.Of(id) {
		if text := j.news(); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// lastWords is how many bytes of a job's last output are reported when it ends by itself.
const lastWords = 600

func (j *Job) news() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	name := j.info.ID + " (" + firstLine(cmp.Or(j.info.Title, j.info.Command)) + ")"
	switch {
	case !j.info.Running() && !j.endTold:
		j.endTold, j.told = true, true
		j.drop()
		end := j.info.End()
		switch {
		case j.info.Kept != "":
			end = "was " + end + ": it is not among your jobs any more"
		case j.info.Lost:
			end = "ended with the lathe that ran it; start it again if it is needed"
		case j.info.Stopped:
			end = "was stopped by the user"
		}
		last, _ := j.out.Part(max(j.seen, j.out.Total()-lastWords), lastWords)
		if words := strings.TrimSpace(string(last)); words != "" && !j.info.Stopped {
			end += "; its last output:\n" + words
		}
		return name + " " + end
	case j.alarm != "" && !j.told:
		j.told = true
		return name + " printed an error: " + j.alarm
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(line); len(r) > 80 {
		line = string(r[:79]) + "…"
	}
	return line
}
