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
	Search   string // words of the title
	Archived bool   // these too
	Limit    int    // 0: all
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

// Reverted is what became of the files that a revert or unrevert was about.
type Reverted struct {
	Conflicts  int      `json:"conflicts"`            // left alone, since somebody else changed them
	Unrecorded string   `json:"unrecorded,omitempty"` // why other changes could not be taken back; empty if there are none
	Files      []string `json:"files,omitempty"`      // that were left alone, the first of them
}

// Hit is a part of a message that holds the words looked for.
type Hit struct {
	Session lathe.SessionID `json:"sessionID"`
	Message lathe.MessageID `json:"messageID"`
	Title   string          `json:"title"`   // of the session
	Updated int64           `json:"updated"` // the session, in ms since 1970
	Role    string          `json:"role"`
	Kind    string          `json:"kind"`
	Text    string          `json:"text"` // around the first word, on one line
}

// Formats that sessions are exported in.
const (
	FormatMarkdown = "markdown"
	FormatJSON     = "json"
	FormatHTML     = "html"
)
