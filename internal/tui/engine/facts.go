package engine

import (
	"time"

	"lathe"
)

// Formats that sessions are exported in.
const (
	FormatMarkdown = "markdown"
	FormatJSON     = "json"
	FormatHTML     = "html"
)

// Found is what can answer, beside what is connected by a stored key.
type Found struct {
	Keys    []FoundKey
	Servers []FoundServer
	Stored  []string // providers with a stored credential
}

// FoundKey is a key in the environment.
type FoundKey struct{ Provider, Name, Variable string }

// FoundServer is a model server on this machine.
type FoundServer struct {
	Provider, Name, URL string
	Models              int
}

// Outcomes of a [KeyTest].
const (
	KeyAccepted = "accepted"
	KeyRefused  = "refused"
	KeyUnknown  = "unknown" // nobody was reached, or nothing useful came back
)

// KeyTest is what came back when a key was tried.
type KeyTest struct {
	Outcome string
	Model   string // that was asked
	Detail  string // what the provider said
	Hint    string // what to do
}

// Approval is something that the person allowed.
type Approval struct {
	Permission, Pattern string
	Stored              bool // in the project, for good; else until lathe ends
}

// Trust is what a repository brings, and whether it counts.
type Trust struct {
	Dir     string
	Given   bool
	State   string    // in words
	Files   []string  // that steer lathe
	LeftOut []LeftOut // what has no effect without trust
	Digest  string    // of the files
}

// LeftOut is a setting without effect.
type LeftOut struct{ Path, Where, Reason string }

// Weight is what the next request of a session would send and cost.
type Weight struct {
	Used, Window, Usable, Counted int64
	Fresh, Cached                 string // in money
	Kinds, Parts                  []Portion
	Compactions, Prunes           int
	CacheRead, CacheWritten       int64
	CacheFresh                    int64
	ByModel                       []ModelCost
}

// Portion is something that fills the window.
type Portion struct {
	Name, Part string
	Count      int
	Tokens     int64
}

// ModelCost is what one model cost in a session.
type ModelCost struct {
	Model        string
	Answers      int
	Sent, Cached int64
	Answered     int64
	Cost         string
}

// Setup is what the status view shows.
type Setup struct {
	Version   string
	MCP, LSP  []Configured
	Formatter []Configured
	Skills    []Skill
	Plugins   []string
	Files     []string // of configuration that were read
	Warnings  []string
	Sandbox   string
	Snapshots string
	Share     string
	Checks    []Check
}

// Configured is something that the configuration names.
type Configured struct {
	Name, Kind string
	State      string // in words: whether it runs
}

// Check is one look at whether something works.
type Check struct {
	Name   string
	OK     bool
	Detail string
}

// Skill is a skill that models can load.
type Skill struct{ Name, Description, Path string }

// FileChange counts what a session changed in a file.
type FileChange struct {
	File           string
	Added, Removed int
}

// Hit is a part of a message that holds the words looked for.
type Hit struct {
	Session    lathe.SessionID
	Message    lathe.MessageID
	Title      string // of the session
	Role, Kind string
	Text       string // around the first word, on one line
	Updated    time.Time
}
