package api

import "lathe"

// Outcomes of an import for one session.
const (
	ImportAdded   = "added"
	ImportSame    = "same"    // it was imported before
	ImportUpdated = "updated" // the source has changed since it was imported
	ImportKept    = "kept"    // the session went on here and stays as it is
	ImportRead    = "read"    // nothing was to be stored
	ImportFailed  = "failed"  // it could not be stored; nothing of it is
)

// Import says what to take in, on the machine of the engine.
type Import struct {
	// Path is a session that was exported as JSON, or OpenCode's data directory or
	// database; absolute. Empty: OpenCode's data directory where it usually is.
	Path   string `json:"path,omitempty"`
	DryRun bool   `json:"dryRun,omitempty"` // only say what there is
	Store  bool   `json:"store,omitempty"`  // the path has to be OpenCode's data
}

// ImportNews is one thing that happened during an import: exactly one field is set. The
// last is Sum or Failed.
type ImportNews struct {
	LeftOut string           `json:"leftOut,omitempty"` // what could not be read, or not be stored, in words
	Session *ImportedSession `json:"session,omitempty"`
	Sum     *ImportSum       `json:"sum,omitempty"`
	Failed  *ImportFailure   `json:"failed,omitempty"` // why the import ended
}

// ImportedSession is what became of one session. The hashes stand for its messages as they
// were read and as they are stored now; Stored is empty when nothing is.
type ImportedSession struct {
	ID       lathe.SessionID `json:"id"`
	Outcome  string          `json:"outcome"`
	Messages int             `json:"messages"`
	Parts    int             `json:"parts"`
	Read     string          `json:"read"`
	Stored   string          `json:"stored"`
}

// ImportSum is what an import did in all.
type ImportSum struct {
	Sessions int            `json:"sessions"`
	Messages int            `json:"messages"`
	Parts    int            `json:"parts"`
	Problems int            `json:"problems"`         // pieces that could not be read
	Outcomes map[string]int `json:"outcomes"`         // sessions, by what became of them
	Export   bool           `json:"export,omitempty"` // a single session that was exported
	// Differ are sessions that are stored otherwise than they were read.
	Differ []lathe.SessionID `json:"differ,omitempty"`
}

// ImportFailure is an error that ended an import.
type ImportFailure struct {
	Code    lathe.Code `json:"code"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
}
