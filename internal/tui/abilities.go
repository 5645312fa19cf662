package tui

import (
	"context"

	"lathe"
)

// What follows is what an Engine may be able to do beyond [Engine]. The screen
// offers it where it is.

// Archiver is an Engine that puts sessions away and finds them again.
type Archiver interface {
	Archive(ctx context.Context, id lathe.SessionID, on bool) error
	// Archived returns the sessions that were put away, newest first.
	Archived(ctx context.Context) ([]lathe.Session, error)
}

// Sharer is an Engine that publishes sessions.
type Sharer interface {
	// Share returns where the session can be seen. An error with the code
	// [lathe.CodeInvalid] says that no service is set up.
	Share(ctx context.Context, id lathe.SessionID) (url string, err error)
	Unshare(ctx context.Context, id lathe.SessionID) error
}

// Formats that sessions are exported in.
const (
	FormatMarkdown = "markdown"
	FormatJSON     = "json"
	FormatHTML     = "html"
)

// Exporter is an Engine that writes a session down.
type Exporter interface {
	Export(ctx context.Context, id lathe.SessionID, format string) ([]byte, error)
}

// Finder is an Engine that knows what a first run can begin with.
type Finder interface {
	Found(ctx context.Context) (Found, error)
}

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

// Tester is an Engine that can try a key with a real, cheap request.
type Tester interface {
	Test(ctx context.Context, provider string) (KeyTest, error)
}

// Forgetter is an Engine that removes stored keys.
type Forgetter interface {
	Forget(ctx context.Context, provider string) error
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

// Truster is an Engine that knows whether the repository may steer lathe, and
// takes the person's decision.
type Truster interface {
	Trust(ctx context.Context) (Trust, error)
	// Decide trusts the repository as [Trust] showed it: for good, or as long as
	// the engine runs. It fails if its files changed meanwhile.
	Decide(ctx context.Context, t Trust, keep bool) error
	// Distrust takes a decision back.
	Distrust(ctx context.Context) error
}

// Revoker is an Engine that knows what the person allowed from then on, and takes
// it back.
type Revoker interface {
	Approvals(ctx context.Context) ([]Approval, error)
	Revoke(ctx context.Context, a Approval) error
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

// Weigher is an Engine that knows what fills a session's window.
type Weigher interface {
	Weigh(ctx context.Context, id lathe.SessionID) (Weight, error)
}

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

// Inspector is an Engine that tells how it is set up.
type Inspector interface {
	Setup(ctx context.Context) (Setup, error)
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
