package sandbox

import (
	"slices"
	"strings"
	"sync/atomic"
)

// Policy is what a process may do. Paths are absolute. What is listed but not there is
// left out.
type Policy struct {
	// Write are files and directories that may be changed with all they hold.
	Write []string
	// Protect lists the files and directories below those of Write that are there and
	// may not be changed all the same. It is asked again when the processes have ended:
	// what came into being meanwhile is moved to Aside, unless it is harmless. Nil: none.
	Protect func() []string
	// Given are files and directories that a person, or a rule, allowed by name: they
	// may be changed and read although they are protected or hidden. A configuration of
	// git among them is put back where it makes git execute something new.
	Given []string
	// Hide are files and directories that cannot be read. Show are such below them
	// that can be.
	Hide, Show []string
	// Overlays are where changes land elsewhere, at the level Full; see [ErrOverlay].
	Overlays []Overlay
	// Required says that nothing may run with less than all of this.
	Required bool
	// Aside is a directory for what is taken back. It is made when it is needed.
	Aside string

	now *sight // what was found while a process starts; nil: look
}

// Grant is what one process may do besides its policy, since a person or a rule allowed
// it by name.
type Grant struct {
	Change []string // files and directories, also protected or hidden ones
	Within []string // directories in which files may be changed and made
	Read   []string // files and directories, also hidden ones
	// Overlays hold back what it changes.
	Overlays []Overlay
}

// With returns the policy with a grant.
func (policy Policy) With(g Grant) Policy {
	policy.Given = slices.Concat(policy.Given, g.Change)
	policy.Write = slices.Concat(policy.Write, g.Within)
	policy.Show = slices.Concat(policy.Show, g.Read)
	policy.Overlays = slices.Concat(policy.Overlays, g.Overlays)
	return policy
}

// Network is what a process has of the network.
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

// found is the level that [Detect] found; nil: it was not asked yet.
var found atomic.Pointer[Level]

// Found names the level if it was found already; it does not look for it.
func Found() string {
	if level := found.Load(); level != nil {
		return level.String()
	}
	return ""
}

// Refusal is something that a policy kept a process from, or that was taken back.
type Refusal struct {
	Op   string `json:"op"` // "write", "create"
	Path string `json:"path"`
	// Undone says what was done about it, where it had happened already.
	Undone string `json:"undone,omitempty"`
}

// below reports whether a clean path lies in a directory, or is it.
func below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/' || dir == "/")
}
