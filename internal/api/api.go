// Package api is the vocabulary of lathe's faces: what a screen, a command or an
// editor asks the engine for, and what it gets back. The server fills these types,
// internal/client hands them on, and faces show them; each thing is declared once,
// here.
//
// There is no logic in it. Types whose JSON is theirs alone carry it as tags; what
// holds messages, parts and events is written by internal/opencode/wire.
package api

import (
	"errors"

	"lathe"
)

// ErrLost ends a stream of events whose reader fell behind, so that what it has read is out of
// date. The reader must read the session again and follow it from there.
var ErrLost = errors.New("events were lost")

// SessionFilter chooses sessions.
type SessionFilter struct {
	Search       string // words in the title
	Everywhere   bool   // in every directory
	Archived     bool   // archived ones too
	OnlyArchived bool   // only archived ones
	Limit        int    // 0: all
}

// SessionRequest creates or changes a session. Nil leaves a field unset or unchanged.
type SessionRequest struct {
	ParentID lathe.SessionID
	Title    *string
	Rules    []lathe.Rule
	HasRules bool
	Agent    string
	Archived *float64 // ms since 1970; 0 takes it out of the archive
}

// History is a page of messages, oldest first. Event names an event whose effect it includes; More
// says that there are older messages, Newer that there are newer ones.
type History struct {
	Messages []lathe.Message
	Event    string
	More     bool
	Newer    bool
}

// SessionChange changes what people set on a session. Nil leaves a field as it is.
type SessionChange struct {
	Title    *string `json:"title,omitempty"`
	Archived *bool   `json:"archived,omitempty"`
}

// Revert says what to take back, and up to where.
type Revert struct {
	MessageID lathe.MessageID `json:"messageID,omitempty"` // empty: see Last
	PartID    lathe.PartID    `json:"partID,omitempty"`    // empty: the whole message
	// Last stands for the newest prompt that is not hidden. With Force it is where an earlier
	// revert, if there was one, began.
	Last  bool `json:"last,omitempty"`
	Force bool `json:"force,omitempty"` // also files that somebody else has changed since
}

// Unrevert says how to take a revert back.
type Unrevert struct {
	Force bool `json:"force,omitempty"` // also files that somebody else has changed since
	// Fork restores, if nothing was reverted, the files that a fork changed.
	Fork bool `json:"fork,omitempty"`
}

// Reverted says what became of the files that a revert or unrevert touched.
type Reverted struct {
	Conflicts  int      `json:"conflicts"`            // files left alone because somebody else changed them
	Unrecorded string   `json:"unrecorded,omitempty"` // why other changes could not be undone; empty if there are none
	Files      []string `json:"files,omitempty"`      // the first of the files that were left alone
	Changed    []string `json:"changed,omitempty"`    // paths that were changed
	Deleted    []string `json:"deleted,omitempty"`    // those of the changed paths that were deleted, if taking back tells
	Created    []string `json:"created,omitempty"`    // those that were written anew, if taking back tells
	Emptied    []string `json:"emptied,omitempty"`    // those of which an empty file stays, if taking back tells
	Kept       []Kept   `json:"kept,omitempty"`       // everything that was left alone, and why
}

// Kept is a file that a revert left as it is.
type Kept struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Fork says what a new session takes of another.
type Fork struct {
	MessageID lathe.MessageID `json:"messageID,omitempty"` // the first that is left out; empty: none
	Files     bool            `json:"files,omitempty"`     // take the files back to that point too
	Title     string          `json:"title,omitempty"`     // empty: the other session's title with a number
}

// Hit is a part of a message that contains the words searched for.
type Hit struct {
	Session lathe.SessionID `json:"sessionID"`
	Message lathe.MessageID `json:"messageID"`
	Part    lathe.PartID    `json:"partID"`
	Title   string          `json:"title"`   // the session's title
	Updated int64           `json:"updated"` // when the session was updated, in ms since 1970
	Role    string          `json:"role"`
	Kind    string          `json:"kind"`
	Text    string          `json:"text"` // the text around the first word, on one line
}

// Search says what to look for, and where.
type Search struct {
	Words      string
	Session    lathe.SessionID // only in this session
	Everywhere bool            // in every directory
	Limit      int             // 0: 20
}

// SearchIndex says how far the index is behind what is stored.
type SearchIndex struct {
	Pending  int  `json:"pending"`  // messages not indexed yet
	ReadOnly bool `json:"readOnly"` // and they cannot be indexed
}

// Formats that sessions are exported in.
const (
	FormatMarkdown = "markdown"
	FormatJSON     = "json"
	FormatHTML     = "html"
)

// Export says how to write a session out.
type Export struct {
	Format   string // one of the above
	Sanitize bool   // leave out texts, names and contents
	Reverted bool   // include what was reverted
}
