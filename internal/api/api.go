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

// ErrLost ends a stream of events whose reader fell behind: what it has read is
// old. It reads the session again and follows anew.
var ErrLost = errors.New("events were lost")

// SessionFilter chooses sessions.
type SessionFilter struct {
	Search       string // words of the title
	Everywhere   bool   // of every directory
	Archived     bool   // these too
	OnlyArchived bool   // these alone
	Limit        int    // 0: all
}

// SessionRequest creates or changes a session. Nil means that nothing was said.
type SessionRequest struct {
	ParentID lathe.SessionID
	Title    *string
	Rules    []lathe.Rule
	HasRules bool
	Agent    string
	Archived *float64 // ms since 1970; 0 takes it back
}

// History is a page of messages, oldest first. Event names an event that it
// includes, More says that there are older ones.
type History struct {
	Messages []lathe.Message
	Event    string
	More     bool
}

// SessionChange changes what people say of a session. Nil means that nothing was said.
type SessionChange struct {
	Title    *string `json:"title,omitempty"`
	Archived *bool   `json:"archived,omitempty"`
}

// Revert says what to take back, and up to where.
type Revert struct {
	MessageID lathe.MessageID `json:"messageID,omitempty"` // empty: see Last
	PartID    lathe.PartID    `json:"partID,omitempty"`    // empty: the whole message
	// Last stands for the newest prompt that is not hidden; with Force, for what a
	// revert before this one began at, if there was one.
	Last  bool `json:"last,omitempty"`
	Force bool `json:"force,omitempty"` // also files that somebody else changed since
}

// Unrevert says how a revert is taken back.
type Unrevert struct {
	Force bool `json:"force,omitempty"` // also files that somebody else changed since
	// Fork brings back, where nothing was reverted, what a fork with its files did.
	Fork bool `json:"fork,omitempty"`
}

// Reverted is what became of the files that a revert or unrevert was about.
type Reverted struct {
	Conflicts  int      `json:"conflicts"`            // left alone, since somebody else changed them
	Unrecorded string   `json:"unrecorded,omitempty"` // why other changes could not be taken back; empty if there are none
	Files      []string `json:"files,omitempty"`      // that were left alone, the first of them
	Changed    []string `json:"changed,omitempty"`    // paths of what was changed
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
	Title     string          `json:"title,omitempty"`     // empty: that of the other, numbered
}

// Hit is a part of a message that holds the words looked for.
type Hit struct {
	Session lathe.SessionID `json:"sessionID"`
	Message lathe.MessageID `json:"messageID"`
	Part    lathe.PartID    `json:"partID"`
	Title   string          `json:"title"`   // of the session
	Updated int64           `json:"updated"` // the session, in ms since 1970
	Role    string          `json:"role"`
	Kind    string          `json:"kind"`
	Text    string          `json:"text"` // around the first word, on one line
}

// Search says what to look for, and where.
type Search struct {
	Words      string
	Session    lathe.SessionID // in this one alone
	Everywhere bool            // in every directory
	Limit      int             // 0: 20
}

// SearchIndex is how far the index is behind what is stored.
type SearchIndex struct {
	Pending  int  `json:"pending"`  // messages that are not in it
	ReadOnly bool `json:"readOnly"` // and cannot be taken in
}

// Formats that sessions are exported in.
const (
	FormatMarkdown = "markdown"
	FormatJSON     = "json"
	FormatHTML     = "html"
)

// Export says how a session is written down.
type Export struct {
	Format   string // one of the above
	Sanitize bool   // without texts, names and contents
	Reverted bool   // with what was reverted
}
