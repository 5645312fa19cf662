// Package lathe is the vocabulary of lathe, an AI coding agent: the types that
// every other package speaks in. It does no I/O, keeps no state and has no wire
// or storage format of its own; those live at the edges (internal/opencode/wire,
// internal/store/sqlite).
//
// A [Session] is one conversation. It holds [Message] values, each an ordered
// list of [Part] values. A turn is everything between one user prompt and idle;
// it is made of steps, one model request and the tool calls it asked for each.
// What happens is told as [Event] values.
package lathe

import (
	"slices"
	"time"
)

// Version is the version of lathe that this source tree builds.
const Version = "0.1.0"

// ModelRef names a model of a provider, and optionally one of its variants
// (a named set of provider options, usually a reasoning effort).
type ModelRef struct {
	Provider string
	Model    string
	Variant  string
}

// String returns "provider/model", the form people type; the variant is left out.
func (m ModelRef) String() string {
	if m.Provider == "" && m.Model == "" {
		return ""
	}
	return m.Provider + "/" + m.Model
}

// IsZero reports whether no model is named.
func (m ModelRef) IsZero() bool { return m.Provider == "" && m.Model == "" }

// Project is a repository (or a plain directory) that sessions belong to.
type Project struct {
	ID       string // first root commit, or "global" outside git
	Worktree string // root of the checkout; "/" outside git
	VCS      string // "git" or empty
	Created  time.Time
	Updated  time.Time

	// Set by the person; all may be empty.
	Name  string
	Icon  Icon
	Start string // command that prepares a new linked worktree

	// StartIn is the worktree that Start was set for. Start runs in no other clone.
	StartIn string

	Sandboxes []string // linked worktrees that exist; found, not stored
}

// Icon is what a project looks like in a list.
type Icon struct {
	URL      string // found by a client; a data: or http(s): address
	Override string // chosen by the person, in place of URL
	Color    string // name of a colour
}

// Session is one conversation: its directory, parent, rules and totals.
type Session struct {
	ID        SessionID
	Slug      string // two readable words, stable for the session's life
	ProjectID string
	Directory string    // absolute path in which the session runs
	ParentID  SessionID // set for subagent and forked child sessions
	Title     string
	Version   string // lathe version that created it

	Created    time.Time
	Updated    time.Time
	Compacting time.Time // zero unless a compaction is running
	Archived   time.Time // zero unless archived

	Rules   []Rule // permission rules of this session, after the agent's
	Agent   string // agent of the newest user message
	Model   ModelRef
	Cost    Money  // sum over all steps
	Tokens  Tokens // sum over all steps
	Summary *SessionSummary
	Share   *Share
	Revert  *Revert
	Helper  *Helper // set for a subagent that works beside its caller
}

// Helper says how a subagent works beside the session that called it.
type Helper struct {
	Background bool   // the call returned before the work was done
	Untold     bool   // the calling session has not been told how it ended
	Branch     string // of its own worktree, where it has one
	Base       string // the commit that worktree began with
	Checkout   string // the top of the checkout that it belongs to
}

// SessionSummary counts what a session changed.
type SessionSummary struct {
	Additions int
	Deletions int
	Files     int
}

// Share says where a session was published. Secret authorises later syncs; it is sent only to
// Service, the address that issued it.
type Share struct {
	ID      string // what the service calls the session
	URL     string // where people look at it
	Secret  string
	Service string // base address of the service
}

// Revert marks the point a session was reverted to. Messages from it on are
// hidden and removed at the next prompt.
type Revert struct {
	MessageID MessageID
	PartID    PartID
	Snapshot  string
	Diff      string
}

// Standing returns the messages that the revert does not hide, and how many it hides wholly or in
// part. A nil Revert hides nothing.
func (r *Revert) Standing(messages []Message) (kept []Message, hidden int) {
	if r == nil {
		return messages, 0
	}
	i := slices.IndexFunc(messages, func(m Message) bool { return m.ID == r.MessageID })
	if i < 0 {
		return messages, 0
	}
	kept = slices.Clone(messages[:i])
	if r.PartID != "" {
		first := messages[i]
		if p := slices.IndexFunc(first.Parts, func(p Part) bool { return p.ID == r.PartID }); p >= 0 {
			first.Parts = first.Parts[:p]
			kept = append(kept, first)
		}
	}
	return kept, len(messages) - i
}

// FileDiff is the change of one file, relative to the worktree.
type FileDiff struct {
	File      string
	Before    string
	After     string
	Patch     string
	Additions int
	Deletions int
	Status    string // "added", "deleted" or "modified"
}

// Todo is one entry of a session's task list.
type Todo struct {
	ID       string
	Content  string
	Status   string // pending, in_progress, completed or cancelled
	Priority string // high, medium or low
}

// Status says what a session is doing now. It is a closed set: [Idle], [Busy]
// and [Retrying].
type Status interface{ isStatus() }

// Idle means no turn is running.
type Idle struct{}

// Busy means a turn is running.
type Busy struct {
	In string // the process that works, as people know it, if it is another one
}

// Retrying means a turn waits before it repeats a failed model request.
type Retrying struct {
	Attempt int    // 1 for the first retry
	Message string // what failed, for people
	Next    time.Time
}

func (Idle) isStatus()     {}
func (Busy) isStatus()     {}
func (Retrying) isStatus() {}
