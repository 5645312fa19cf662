package engine

import (
	"context"
	"io"
	"iter"

	"lathe"
	"lathe/internal/api"
)

// Capabilities is what an engine can do beyond [Engine]. The rest is nil, and the
// screen does not offer it.
type Capabilities struct {
	Undo      Undoer
	Compact   Compacter
	Fork      Forker
	Archive   Archiver
	Share     Sharer
	Export    Exporter
	Search    Searcher
	Changes   Differ
	Found     Finder
	Keys      Keyring
	Logins    Logins
	Trust     Truster
	Approvals Revoker
	Weigh     Weigher
	Budget    Budgeter
	Setup     Inspector
	Jobs      Jobber
	Symbols   SymbolFinder
	Servers   Servers
	Plugins   Plugins
	Imports   Imports
	Tree      Treer
	Worktrees Worktreer
	Languages Languages
	Modes     Modes
	Review    Reviewer
	Elsewhere Elsewhere
	Notes     Notes
	Attend    Attender
}

// Attender tells of what other processes on this machine do in a session, as events.
type Attender interface {
	Attend(ctx context.Context, id lathe.SessionID) error
}

// Notes keeps what a person noted about sessions, with them.
type Notes interface {
	Notes(ctx context.Context, id lathe.SessionID) (api.Notes, error)
	Note(ctx context.Context, id lathe.SessionID, in api.NotesChange) (api.Notes, error)
}

// Elsewhere knows what other programs have on the engine's machine.
type Elsewhere interface {
	Elsewhere(ctx context.Context) ([]api.Elsewhere, error)
	// Import imports sessions, and yields what happens; what was stored stays if the
	// caller stops reading.
	Import(ctx context.Context, in api.Import) iter.Seq2[api.ImportNews, error]
}

// Reviewer tells what the prompts of a session changed, takes changes back, and stages them for a commit.
type Reviewer interface {
	Review(ctx context.Context, id lathe.SessionID) ([]api.Reviewed, error)
	// Between returns what changed from one prompt on until before another one.
	Between(ctx context.Context, id lathe.SessionID, from, to lathe.MessageID) ([]api.ReviewedFile, error)
	// PreviewRevert says what [Undoer.Revert] would do to files.
	PreviewRevert(ctx context.Context, id lathe.SessionID, m lathe.MessageID) (api.Reverted, error)
	TakeBack(ctx context.Context, id lathe.SessionID, in api.TakeBack) (api.Reverted, error)
	Stage(ctx context.Context, id lathe.SessionID, in api.Stage) (api.Staged, error)
}

// Modes know how much sessions ask before something is done.
type Modes interface {
	ApprovalMode(ctx context.Context, id lathe.SessionID) (lathe.ApprovalMode, error)
	// SetApprovalMode chooses it; it holds from the session's next call on.
	SetApprovalMode(ctx context.Context, id lathe.SessionID, mode lathe.ApprovalMode) error
}

// Worktreer makes worktrees of the repository to work in, and removes them.
type Worktreer interface {
	Worktrees(ctx context.Context) ([]api.Worktree, error)
	// RemoveWorktree removes one. What would be lost is kept on a branch.
	RemoveWorktree(ctx context.Context, name string) (api.RemovedWorktree, error)
	// AllSessions returns the sessions of every directory.
	AllSessions(ctx context.Context) ([]lathe.Session, error)
	// Dir is the directory that the screen works in; empty if that is not known.
	Dir() string
	// CreateWorktree makes one; an empty name gets a made-up one.
	CreateWorktree(ctx context.Context, name string) (api.Worktree, error)
}

// Languages are the language servers of the directory.
type Languages interface {
	Languages(ctx context.Context) (api.LanguageServers, error)
	// StopLanguage ends one; the next file that needs it starts it anew.
	StopLanguage(ctx context.Context, name api.LanguageServerName) error
}

// Treer knows which subagents work for a session.
type Treer interface {
	Tree(ctx context.Context, id lathe.SessionID) (api.Helper, error)
}

// SymbolFinder finds symbols in the directory's code by name.
type SymbolFinder interface {
	Symbols(ctx context.Context, query string) ([]api.Symbol, error)
	// Dir is the directory that paths are relative to; empty if that is not known.
	Dir() string
}

// Jobber manages jobs, the processes of sessions that keep running.
type Jobber interface {
	Jobs(ctx context.Context, f api.JobFilter) ([]api.Job, error)
	// JobOutput returns what a job has printed from a position on, and with follow
	// continues until the job ends. The caller closes it.
	JobOutput(ctx context.Context, id string, from int64, follow bool) (out io.ReadCloser, at int64, err error)
	TypeJob(ctx context.Context, id string, in api.JobInput) error
	StopJob(ctx context.Context, id string) (api.Job, error)
	// KeepCall turns the running command of a call into a job; without a call, the
	// session's newest command.
	KeepCall(ctx context.Context, id lathe.SessionID, callID string) error
}

// Undoer takes messages and their changes back.
type Undoer interface {
	// Revert goes back to before a user message.
	Revert(ctx context.Context, id lathe.SessionID, m lathe.MessageID) error
	// Unrevert undoes all reverts.
	Unrevert(ctx context.Context, id lathe.SessionID) error
}

// Compacter compacts on demand.
type Compacter interface {
	Compact(ctx context.Context, id lathe.SessionID, model lathe.ModelRef) error
}

// Forker copies a session, up to a message if one is named.
type Forker interface {
	Fork(ctx context.Context, id lathe.SessionID, upTo lathe.MessageID) (lathe.Session, error)
}

// Keyring stores keys of providers.
type Keyring interface {
	Providers(ctx context.Context) ([]api.Provider, error)
	// Connect stores a key; models of the provider can be chosen afterwards.
	Connect(ctx context.Context, provider, key string) error
	// Test tries a key with a real, cheap request, and does not store it.
	Test(ctx context.Context, provider, key string) (api.KeyTest, error)
}

// Logins are the ways to log in to providers that plugins bring.
type Logins interface {
	// LoginMethods returns them by provider.
	LoginMethods(ctx context.Context) (map[string][]api.LoginMethod, error)
	// BeginProviderLogin begins a login; without an address it is done.
	BeginProviderLogin(ctx context.Context, provider string, method int, inputs map[string]string) (api.LoginBegun, error)
	// EndProviderLogin waits until a login is done, for minutes if the browser has a part in it.
	EndProviderLogin(ctx context.Context, provider string, method int, code string) error
}

// Archiver puts sessions away and finds them again.
type Archiver interface {
	Archive(ctx context.Context, id lathe.SessionID, on bool) error
	// Archived returns the sessions that were put away, newest first.
	Archived(ctx context.Context) ([]lathe.Session, error)
}

// Sharer publishes sessions.
type Sharer interface {
	// Share returns where the session can be seen. An error with the code
	// [lathe.CodeInvalid] says that no service is set up.
	Share(ctx context.Context, id lathe.SessionID) (url string, err error)
	Unshare(ctx context.Context, id lathe.SessionID) error
}

// Exporter writes a session down.
type Exporter interface {
	Export(ctx context.Context, id lathe.SessionID, format string) ([]byte, error)
}

// Finder knows what a first run can begin with.
type Finder interface {
	Found(ctx context.Context) (api.Found, error)
}

// Truster knows whether the repository may steer lathe, and
// takes the person's decision.
type Truster interface {
	Trust(ctx context.Context) (api.Trust, error)
	// Decide trusts the repository as [Trust] showed it: for good, or for as
	// long as the engine runs. It fails if its files changed in the meantime.
	Decide(ctx context.Context, t api.Trust, keep bool) error
	// Distrust withdraws a decision.
	Distrust(ctx context.Context) error
}

// Revoker knows what the person allowed from then on, and withdraws it.
type Revoker interface {
	Approvals(ctx context.Context) ([]api.Approval, error)
	Revoke(ctx context.Context, a api.Approval) error
}

// Budgeter knows what of the configured budget is used.
type Budgeter interface {
	Budget(ctx context.Context, id lathe.SessionID) (api.Budget, error)
}

// Weigher knows what fills a session's window.
type Weigher interface {
	Weigh(ctx context.Context, id lathe.SessionID) (api.Window, error)
}

// Inspector says how lathe is set up, and whether everything it needs works.
type Inspector interface {
	Setup(ctx context.Context) (api.Setup, error)
	Checks(ctx context.Context) ([]api.Check, error)
}

// Differ knows which files a session changed.
type Differ interface {
	Changes(ctx context.Context, id lathe.SessionID) ([]FileChange, error)
}

// FileChange counts what a session changed in a file. Was is the former name of one that only
// got another, and which counts nothing.
type FileChange struct {
	File, Was      string
	Added, Removed int
}

// FileChanges returns what changed in each file; a file that only got another name is one.
func FileChanges(diffs []lathe.FileDiff) []FileChange {
	renames := lathe.Renames(diffs)
	out := make([]FileChange, 0, len(diffs))
	for _, d := range diffs {
		switch was := renames[d.File]; {
		case was == "":
			out = append(out, FileChange{File: d.File, Added: d.Additions, Removed: d.Deletions})
		case d.Status == "added":
			out = append(out, FileChange{File: d.File, Was: was})
		}
	}
	return out
}

// Searcher finds what was said in the sessions of this directory.
type Searcher interface {
	Search(ctx context.Context, words string, limit int) ([]api.Hit, error)
}

// Servers are the servers of the model context protocol.
type Servers interface {
	Servers(ctx context.Context, start bool) ([]api.MCPServer, error)
	Server(ctx context.Context, name string, connect bool) (api.MCPDetail, error)
	SwitchServer(ctx context.Context, name string, on bool) error
	SeenServer(ctx context.Context, name string) error
	RefreshServers(ctx context.Context, id lathe.SessionID) (api.MCPRefreshed, error)
	// Resources lists what servers that are known can be asked to read.
	Resources(ctx context.Context) ([]api.MCPResource, error)
}

// Imports are files of other programs that name servers.
type Imports interface {
	Imports(ctx context.Context) ([]api.MCPImport, error)
	AnswerImport(ctx context.Context, in api.MCPImportAnswer) error
}

// Plugins are plugins, custom tools and hooks.
type Plugins interface {
	Plugins(ctx context.Context) (api.Plugins, error)
	ChangePlugin(ctx context.Context, in api.PluginChange) (api.PluginChanged, error)
	// ForeignHooks are those in the settings of other tools.
	ForeignHooks(ctx context.Context) ([]api.ForeignHooks, error)
	DecideHooks(ctx context.Context, in api.HooksDecision) error
}
