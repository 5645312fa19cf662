package store

import "lathe"

// Tx is a transaction. It is valid inside the function given to [Writer.Batch]
// only, and used by one goroutine. A store may do things together, so that an error comes
// with a later call or from Batch: nothing can be done after one but to return it.
type Tx interface {
	SessionWriter
	MessageWriter
	ProjectWriter
}

// SessionWriter changes sessions and what belongs to them as a whole. All but
// CreateSession return [ErrNotFound] without the session.
type SessionWriter interface {
	// CreateSession stores a new session. The error is [ErrExists] if its identifier
	// is taken.
	CreateSession(s lathe.Session) error
	// UpdateSession reads a session, lets change alter it and stores the result,
	// which it returns. The identifier stays. An error of change undoes everything.
	UpdateSession(id lathe.SessionID, change func(*lathe.Session) error) (lathe.Session, error)
	// DeleteSession removes a session, the sessions below it and all that belongs to
	// them, except for what they cost. It returns them, children first.
	DeleteSession(id lathe.SessionID) ([]lathe.Session, error)
	// Recover closes what an owner that is gone left open in a session: tool calls
	// fail as [Interrupted], texts end where they were checkpointed, unfinished
	// answers are completed as aborted. It returns the parts it changed. If a living
	// owner other than self holds the lease, nothing changes and the error is a
	// [*BusyError].
	Recover(id lathe.SessionID, self Owner) ([]lathe.Part, error)
	// SetTodos replaces the task list of a session.
	SetTodos(session lathe.SessionID, todos []lathe.Todo) error
	// SetDiffs replaces what a message's turn changed, or with an empty message what
	// the whole session changed.
	SetDiffs(session lathe.SessionID, message lathe.MessageID, diffs []lathe.FileDiff) error
	// SetValue stores a caller's own small document for a session, under a key.
	// It is removed with the session. Most callers use a [Document].
	SetValue(session lathe.SessionID, key string, value []byte) error
}

// Interrupted is the error of a tool call whose process ended before the tool.
const Interrupted = "[Tool execution was interrupted]"

// AbortedMessage is the failure of an answer whose process ended before it.
const AbortedMessage = "lathe stopped before the answer was complete"

// MessageWriter changes messages and parts.
type MessageWriter interface {
	// AddMessage stores a message with its parts and sets their Seq. The error is
	// [ErrExists] if an identifier is taken, [ErrNotFound] without the session.
	AddMessage(m *lathe.Message) error
	// UpdateMessage stores the info of a message; its parts are ignored. A damaged
	// message is marked completed, and what is stored of it stays.
	UpdateMessage(m *lathe.Message) error
	// RemoveMessage removes a message and its parts. A boundary that came with it
	// goes too, and the one before it counts again. What it cost stays counted.
	RemoveMessage(session lathe.SessionID, id lathe.MessageID) error
	// DropMessages removes all messages of a session. What they cost stays counted.
	DropMessages(session lathe.SessionID) error
	// PutPart stores a part and sets its Seq: a new part becomes the last of its
	// message, an existing one stays in its place. A stored part takes over the text
	// that was streamed to it, so p holds the whole text. A damaged part is closed,
	// and what is stored of it stays. The error is [ErrExists] if the identifier
	// belongs to a part of another message, [ErrNotFound] if there is no such
	// message.
	PutPart(p *lathe.Part) error
	// RemovePart removes a part, or returns [ErrNotFound].
	RemovePart(id lathe.PartID) error
	// SetBoundary says that the live tail of the session starts at the message with
	// the sequence number. It belongs to the newest summary of the session, or else
	// to its newest message, and is forgotten with that. 0 forgets all boundaries.
	SetBoundary(session lathe.SessionID, seq int64) error
	// AddSpent counts what a model was asked beside the messages, such as a title: all of a
	// but Removed and Completed. Its session need not exist.
	AddSpent(id lathe.MessageID, a Answer) error
	// SetCopied says that the messages of a session up to a sequence number are
	// copies, which statistics count where they were made.
	SetCopied(session lathe.SessionID, seq int64) error
}

// ProjectWriter changes projects and what people approved in them.
type ProjectWriter interface {
	// PutProject stores a project, new or seen again. The time it was first seen
	// and what a person set on it stay as stored.
	PutProject(p lathe.Project) error
	// UpdateProject changes a stored project, or returns [ErrNotFound].
	UpdateProject(id string, change func(*lathe.Project) error) (lathe.Project, error)
	// PutApproval stores a rule that a person approved for an owner. A rule for the
	// same permission and pattern is replaced and counts as the newest.
	PutApproval(owner string, r lathe.Rule) error
	// DeleteApproval forgets one approval of an owner. It is no error if none is
	// stored.
	DeleteApproval(owner string, r lathe.Rule) error
}
