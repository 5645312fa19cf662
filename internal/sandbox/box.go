package sandbox

import (
	"errors"
	"os"
)

// ErrLevel means that the policy demands more than the system can do.
var ErrLevel = errors.New("commands cannot be confined as \"sandbox\": \"required\" demands")

// Options configure a [Box].
type Options struct {
	// Network is what its processes have of the network, at the level Full.
	Network Network
	// Most is the highest level that is used, for tests; the zero value is none.
	Most *Level
	// Leader is told the number of the process that holds the namespaces, when it
	// starts and when it has ended; nil: nobody.
	Leader func(pid int, runs bool)
}

// Process is what a box starts.
type Process struct {
	Path string
	Args []string
	Dir  string
	Env  []string
	// Files are those that the process has, by number; nil ones it does not.
	Files []*os.File
	// Terminal makes file 0 its controlling terminal.
	Terminal bool
	// EndsWithLathe has the kernel kill it when the thread that started it ends.
	EndsWithLathe bool
	// Mark is the limit RLIMIT_RTTIME that it begins with.
	Mark Limit
}

// Run is a process that was started.
type Run struct {
	PID   int
	Level Level
	ended func() []Refusal
	told  listener
}

// listener is what knows of refusals while the process runs.
type listener interface {
	all() []Refusal
	share() (*os.File, error)
	stop()
}

// Ended must be called once, when the process and all that it started are gone. It tells
// what was refused or taken back.
func (r *Run) Ended() (refused []Refusal) {
	if r.told != nil {
		refused = r.told.all()
	}
	return append(refused, r.ended()...)
}

// Share returns a file with which [Attend] goes on for the process in another process,
// and which that closes; nil if nothing needs to go on.
func (r *Run) Share() (*os.File, error) {
	if r.told == nil {
		return nil, nil
	}
	return r.told.share()
}

// Release leaves the process to whoever has what Share returned. Ended is not called.
func (r *Run) Release() {
	if r.told != nil {
		r.told.stop()
	}
}

// Limit is a resource limit: the one that counts, and how far it can be raised.
type Limit struct{ Cur, Max uint64 }
