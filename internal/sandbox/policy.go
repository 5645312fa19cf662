package sandbox

import (
	"slices"
	"strings"
	"sync/atomic"
)

// Policy is what a process may do. Paths are absolute. Paths that do not exist are
// ignored.
type Policy struct {
	// Write are files and directories that may be changed, with everything in them.
	Write []string
	// Protect lists the existing files and directories below Write that may not be
	// changed. It is called again when the processes have ended: anything created in the
	// meantime is moved to Aside, unless it is harmless. Nil: none.
	Protect func() []string
	// Given are files and directories that a person, or a rule, allowed by name: they
	// may be changed and read although they are protected or hidden. A git
	// configuration among them is restored if it would make git execute something new.
	Given []string
	// Hide are files and directories that cannot be read. Show are paths below
	// them that can.
	Hide, Show []string
	// Overlays are directories whose changes are redirected, at the level Full; see [ErrOverlay].
	Overlays []Overlay
	// Lasting says that the process lives on while others work in the same places, so that
	// what is found changed at its end may not be its doing: nothing is undone or moved away.
	// Instead lathe refuses its calls that would change or make what is protected, as far as
	// it sees them (on Linux, with seccomp's notification).
	Lasting bool
	// Forbid reports whether a file that is not there yet would be protected; whole says that
	// something complete is put there, such as a directory. Only for lasting processes; nil: none is.
	Forbid func(path string, whole bool) bool
	// Checkouts are directories in which processes may not make git execute anything: hooks
	// and settings of every checkout below. What a process made is moved to Aside when it
	// has ended, but for a lasting one.
	Checkouts []string
	// Required says that nothing may run with less than all of this.
	Required bool
	// Aside is a directory for files that are moved away. It is created when needed.
	Aside string

	now    *sight    // what was found while a process starts; nil: look
	absent *absences // what was not there before; may be nil
}

// Grant is what one process may do in addition to its policy, because a person or a
// rule allowed it by name.
type Grant struct {
	Change []string // files and directories, including protected or hidden ones
	Within []string // directories in which files may be changed and made
	Read   []string // files and directories, including hidden ones
	// Overlays hold back what it changes.
	Overlays []Overlay
}

// With returns the policy extended by a grant.
func (policy Policy) With(g Grant) Policy {
	policy.Given = slices.Concat(policy.Given, g.Change)
	policy.Write = slices.Concat(policy.Write, g.Within)
	policy.Show = slices.Concat(policy.Show, g.Read)
	policy.Overlays = slices.Concat(policy.Overlays, g.Overlays)
	return policy
}

// Network says which network a process has.
type Network int

// Networks.
const (
	HostNetwork Network = iota // the machine's own
	OwnNetwork                 // a loopback interface of its own, shared by one box; see [Box.Listen]
)

// Level is how far processes can be confined.
type Level int

// Levels, each with all of those below it.
const (
	// RulesOnly means that commands are judged before they run, but not confined.
	RulesOnly Level = iota
	// Files means Landlock and seccomp: files and system calls are confined. Other
	// processes can be seen, and the network is the machine's.
	Files
	// Full means namespaces, too.
	Full
)

// String names the level, for people and for metadata.
func (l Level) String() string {
	switch l {
	case Full:
		return "full"
	case Files:
		return "files"
	}
	return "rules"
}

// Words says what the level means, in one line.
func (l Level) Words() string {
	switch l {
	case Full:
		return "commands are confined: files, system calls, processes"
	case Files:
		return "commands are confined in what files they change and read; they see other processes, and files inside the project that steer other programs are checked afterwards"
	}
	return "commands are judged before they run, not confined"
}

// found is the level that [Detect] found; nil if it was not called yet.
var found atomic.Pointer[Level]

// Found returns the name of the level if [Detect] has found it already; it does not call Detect.
func Found() string {
	if level := found.Load(); level != nil {
		return level.String()
	}
	return ""
}

// Refusal is something that a policy prevented, or that was undone.
type Refusal struct {
	Op   string `json:"op"` // "write", "create"
	Path string `json:"path"`
	// Undone says what was done about it if it had already happened.
	Undone string `json:"undone,omitempty"`
	// Told says that the command complained of it, although it ended well.
	Told bool `json:"told,omitempty"`
}

// below reports whether a clean path lies in a directory, or is it.
func below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/' || dir == "/")
}
