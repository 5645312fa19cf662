package api

import "lathe"

// Outcomes of an import for one session.
const (
	ImportAdded   = "added"
	ImportSame    = "same"    // it was imported before
	ImportUpdated = "updated" // the source has changed since it was imported
	ImportKept    = "kept"    // the session went on here and stays as it is
	ImportRead    = "read"    // it was only read; nothing was to be stored
	ImportFailed  = "failed"  // it could not be stored, not even in part
)

// Import says what to import, on the engine's machine.
type Import struct {
	// Path is a session exported as JSON, or OpenCode's data directory or database; it is absolute.
	// Empty means OpenCode's data directory in its usual place.
	Path   string `json:"path,omitempty"`
	DryRun bool   `json:"dryRun,omitempty"` // only say what is there
	Store  bool   `json:"store,omitempty"`  // the path must be OpenCode's data
	// Program, [ClaudeCode] or [Codex], says instead that the commands, agents and instructions
	// are taken over which the person made for it.
	Program string `json:"program,omitempty"`
}

// ImportNews is one thing that happened during an import: exactly one field is set. The
// last is Sum or Failed.
type ImportNews struct {
	LeftOut string           `json:"leftOut,omitempty"` // what could not be read or stored, in words
	Session *ImportedSession `json:"session,omitempty"`
	File    *ImportedFile    `json:"file,omitempty"`
	Sum     *ImportSum       `json:"sum,omitempty"`
	Failed  *ImportFailure   `json:"failed,omitempty"` // why the import ended
}

// ImportedSession is what became of one session. The hashes identify its messages as they were read
// and as they are stored now; Stored is empty when nothing is stored.
type ImportedSession struct {
	ID       lathe.SessionID `json:"id"`
	Outcome  string          `json:"outcome"`
	Messages int             `json:"messages"`
	Parts    int             `json:"parts"`
	Read     string          `json:"read"`
	Stored   string          `json:"stored"`
}

// ImportedFile is what became of a command, an agent or instructions of another program.
type ImportedFile struct {
	Kind    string   `json:"kind"` // "command", "agent" or "instructions"
	Name    string   `json:"name"`
	From    string   `json:"from"`
	To      string   `json:"to,omitempty"`    // where it is now, or what is there in its place
	Outcome string   `json:"outcome"`         // added, same, kept, read or failed
	Notes   []string `json:"notes,omitempty"` // what did not come along, or why nothing did
}

// ImportSum is what an import did in all.
type ImportSum struct {
	Sessions int            `json:"sessions"`
	Messages int            `json:"messages"`
	Parts    int            `json:"parts"`
	Problems int            `json:"problems"`         // pieces that could not be read
	Outcomes map[string]int `json:"outcomes"`         // sessions, or files, by what became of them
	Export   bool           `json:"export,omitempty"` // the source was a single exported session
	// Differ lists sessions that are stored differently from how they were read.
	Differ []lathe.SessionID `json:"differ,omitempty"`
}

// ImportFailure is an error that ended an import.
type ImportFailure struct {
	Code    lathe.Code `json:"code"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
}
