package store

import (
	"context"
	"iter"
	"time"

	"lathe"
)

// SessionReader reads sessions and what belongs to them as a whole.
type SessionReader interface {
	// Session returns a session, or [ErrNotFound].
	Session(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	// Sessions returns the sessions that the filter selects, newest created first
	// unless the filter says otherwise.
	Sessions(ctx context.Context, f SessionFilter) ([]lathe.Session, error)
	// Unclosed returns the sessions in which something is open, by creation.
	Unclosed(ctx context.Context) ([]lathe.SessionID, error)
	// Todos returns the task list of a session; nil when there is none.
	Todos(ctx context.Context, session lathe.SessionID) ([]lathe.Todo, error)
	// Diffs returns what a message's turn changed, or with an empty message what the
	// whole session changed; nil when nothing is stored.
	Diffs(ctx context.Context, session lathe.SessionID, message lathe.MessageID) ([]lathe.FileDiff, error)
	// Value returns what is kept under a key of a session, or nil. Most callers use a
	// [Document].
	Value(ctx context.Context, session lathe.SessionID, key string) ([]byte, error)
}

// SessionFilter selects sessions; zero fields select all.
type SessionFilter struct {
	ProjectID string
	Directory string
	ParentID  lathe.SessionID
	Roots     bool      // only sessions without a parent
	Active    bool      // only sessions that are not archived
	Archived  bool      // only sessions that are
	Search    string    // part of the title; ASCII letter case is ignored
	Since     time.Time // updated at that time or later
	Before    time.Time // updated before that time
	ByUse     bool      // order by the latest prompt instead of by creation
	Oldest    bool      // the oldest first
	Limit     int       // at most this many
}

// MessageReader reads messages with their parts. Open parts have the text that
// streamed so far.
type MessageReader interface {
	// Message returns a message with its parts, or [ErrNotFound].
	Message(ctx context.Context, session lathe.SessionID, id lathe.MessageID) (lathe.Message, error)
	// Messages yields the messages of a session, newest first. It holds a page at a
	// time and no lock between pages. An error ends it.
	Messages(ctx context.Context, session lathe.SessionID, f MessageFilter) iter.Seq2[lathe.Message, error]
	// Tail returns the messages from the stored boundary on, oldest first. What lies
	// before the boundary costs nothing.
	Tail(ctx context.Context, session lathe.SessionID) ([]lathe.Message, error)
	// TurnTail is Tail for a turn in progress: it leaves out the step marks before the
	// newest answer, which are most of the parts of a long turn and mean nothing to a
	// model. A mark between two steps of one message stays.
	TurnTail(ctx context.Context, session lathe.SessionID) ([]lathe.Message, error)
	// NewestMessage returns the newest message of a session, or "".
	NewestMessage(ctx context.Context, session lathe.SessionID) (lathe.MessageID, error)
	// HasPart reports whether a part has the identifier, in whatever session.
	HasPart(ctx context.Context, id lathe.PartID) (bool, error)
	// Beside returns the newest answer of a session, and what other sessions of its
	// project have answered since that began, or were still answering. A session's
	// subagents and its parents do not count as others. Messages that were copied
	// or imported since then count from when they were made.
	Beside(ctx context.Context, session lathe.SessionID) (Beside, error)
}

// MessageFilter selects messages; zero fields select all.
type MessageFilter struct {
	Before int64 // sequence numbers below this one
	Limit  int   // at most this many
}

// ProjectReader reads projects and what people approved in them.
type ProjectReader interface {
	// Project returns a project, or [ErrNotFound].
	Project(ctx context.Context, id string) (lathe.Project, error)
	// Projects returns all projects, the one used last first.
	Projects(ctx context.Context) ([]lathe.Project, error)
	// Approvals returns the rules approved for an owner, oldest first.
	Approvals(ctx context.Context, owner string) ([]lathe.Rule, error)
}
