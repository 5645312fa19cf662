package sandbox

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
)

// ErrLevel means that the policy demands more than the system can do.
var ErrLevel = errors.New("commands cannot be confined as \"sandbox\": \"required\" demands")

// Options configure a [Box].
type Options struct {
	// Network is which network its processes get at the level Full.
	Network Network
	// Most is the highest level that is used, for tests; nil means no limit.
	Most *Level
	// Limits bound what its processes take of the machine.
	Limits Limits
	// Leader is called with the number of the process that holds the namespaces,
	// when it starts and when it has ended; may be nil.
	Leader func(pid int, runs bool)
}

// Limits bound what processes take. Zero means the default for Processes, and as lathe's
// own for the others.
type Limits struct {
	Processes int    // of all processes of a box together, threads counted; at the level Full
	Memory    uint64 // bytes of data of each process
	Files     uint64 // that each process has open
}

// Process is what a box starts.
type Process struct {
	Path string
	Args []string
	Dir  string
	Env  []string
	// Files are the process's file descriptors, by number; those that are nil it does not get.
	Files []*os.File
	// Terminal makes file 0 its controlling terminal.
	Terminal bool
	// EndsWithLathe has the kernel kill it when the thread that started it ends.
	EndsWithLathe bool
	// Mark is the limit RLIMIT_RTTIME that it begins with.
	Mark Limit
	// Near is asked when a process in a network of its own connects to a server of the
	// machine's loopback. The process waits in the meantime. If it may connect, serve
	// gets a listener at that address in the process's network; if Near is nil, it may
	// not.
	Near Near
}

// Near says whether a process may reach a server of the machine's loopback.
type Near func(to netip.AddrPort) (serve func(net.Listener), ok bool)

// Port is a TCP server of a process in a network of its own, and where the machine's
// programs find it on their loopback.
type Port struct {
	Port int // that the process listens on
	At   int // the machine's port; different if Port is taken there
}

// Run is a process that was started.
type Run struct {
	PID   int
	Level Level
	check func() []Refusal // what was done to protected files, which is undone
	leave func()
	told  listener
	// hidden lists what the process could not read; nil: nothing.
	hidden func() []string
	// alone is Alone; nil: that cannot be known.
	alone func() bool
}

// Alone reports whether certainly nothing that the process started is left, once it has
// ended itself. While others run in the same box it may report false all the same.
func (r *Run) Alone() bool { return r.alone != nil && r.alone() }

// Hidden lists the files and directories that are there and that the process could not
// read. Calls that read are not told, so whether it tried is not known.
func (r *Run) Hidden() []string {
	if r.hidden == nil {
		return nil
	}
	return r.hidden()
}

// listener learns of refusals while the process runs.
type listener interface {
	all() []Refusal
	outlive()
	check() []Refusal
	share() (*os.File, error)
	shareNetwork() ([]*os.File, string, error)
	stop()
	publish()
	published() []Port
	lost() []netip.AddrPort
}

// Publish makes the servers of a process in a network of its own, those that listen and
// those to come, reachable on the machine's loopback until the process has ended or is
// released.
func (r *Run) Publish() {
	if r.told != nil {
		r.told.publish()
	}
}

// Published lists those servers.
func (r *Run) Published() []Port {
	if r.told == nil {
		return nil
	}
	return r.told.published()
}

// Lost lists addresses to which the process connected although its own network does not
// lead there.
func (r *Run) Lost() []netip.AddrPort {
	if r.told == nil {
		return nil
	}
	return r.told.lost()
}

// Ended must be called once, when the process and all that it started are gone. It
// returns what was refused or undone.
func (r *Run) Ended() (refused []Refusal) {
	if r.told != nil {
		refused = append(r.told.all(), r.told.check()...)
	}
	r.leave()
	return append(refused, r.check()...)
}

// Outlive makes the process a lasting one, see [Policy.Lasting]: what it did so far to
// protected files is undone now, and nothing later. It returns what was refused or undone.
// Call it once at most.
func (r *Run) Outlive() (refused []Refusal) {
	if r.told != nil {
		r.told.outlive()
	}
	refused, r.check = r.check(), func() []Refusal { return nil }
	if r.told != nil {
		refused = slices.Concat(r.told.all(), r.told.check(), refused)
	}
	return refused
}

// Share returns a file with which [Attend] in another process takes over for this one,
// and which Attend closes; nil if there is nothing to take over.
func (r *Run) Share() (*os.File, error) {
	if r.told == nil {
		return nil, nil
	}
	return r.told.share()
}

// ShareNetwork returns files, and words for them, with which [Attend] keeps the servers
// of the process published; none if there is nothing to keep. Whoever gets them closes them.
func (r *Run) ShareNetwork() ([]*os.File, string, error) {
	if r.told == nil {
		return nil, "", nil
	}
	return r.told.shareNetwork()
}

// Release leaves the process to whoever has what Share returned. Ended is not called.
func (r *Run) Release() {
	if r.told != nil {
		r.told.stop()
	}
}

// Limit is a resource limit: the current value, and how far it can be raised.
type Limit struct{ Cur, Max uint64 }
