package lathe

import (
	"strings"
	"time"
)

// Event is a fact that happened. Subscribers get events in the order in which they happened. Apart
// from [PartDelta], they never get one that a restart would forget.
type Event interface{ isEvent() }

// Envelope is an event as the bus carries it. Seq counts the events of one
// process from 1.
type Envelope struct {
	Seq       uint64
	Time      time.Time
	Directory string // the instance it belongs to; empty for events of the process
	// Number is that of the event in the journal that servers share, the same on each of
	// them; 0 for what is told by this process alone, and where there is no journal.
	Number int64
	// Elsewhere means that another server did it and told this one.
	Elsewhere bool
	Event     Event
}

type (
	// SessionCreated announces a new session.
	SessionCreated struct{ Session Session }
	// SessionUpdated reports that a session's own fields changed.
	SessionUpdated struct{ Session Session }
	// SessionDeleted reports that a session and everything that belongs to it is gone.
	SessionDeleted struct{ Session Session }
	// SessionStatus says what a session is doing. [Idle] means that a turn has ended.
	SessionStatus struct {
		SessionID SessionID
		Status    Status
	}
	// SessionFailed reports that a turn met an error. SessionID may be empty.
	SessionFailed struct {
		SessionID SessionID
		Failure   Failure
	}
	// SessionDiff lists what a session has changed so far.
	SessionDiff struct {
		SessionID SessionID
		Diff      []FileDiff
	}
	// SessionCompacted reports that a summary took the place of old messages.
	SessionCompacted struct{ SessionID SessionID }
	// SessionPruned reports that old tool results were cleared from the model's view, and about how
	// many tokens that frees. OpenCode has no such event.
	SessionPruned struct {
		SessionID SessionID
		Results   int
		Tokens    int64
	}
	// JobChanged reports that a job of a session began or ended.
	JobChanged struct {
		SessionID SessionID
		JobID     string
		Running   bool
	}
	// UndoOff reports that changes made by the session's tools are no longer recorded, so they
	// cannot be undone, and why. It comes before the first such change. OpenCode has no such event;
	// its clients are shown the text.
	UndoOff struct {
		SessionID SessionID
		Reason    string
	}
	// SessionMode reports that another mode of approval holds for a session.
	SessionMode struct {
		SessionID SessionID
		Mode      ApprovalMode
	}
	// Notice is something that a person should know but need not act on, such as a language server
	// that is missing. OpenCode's clients are shown the text.
	Notice struct {
		SessionID   SessionID // that it is about; "" for all of the directory
		Title, Text string
	}
	// LSPUpdated reports that a language server started or ended.
	LSPUpdated struct{}
	// LSPDiagnosed reports that a language server has new diagnostics for a file.
	LSPDiagnosed struct{ Server, Path string }
	// MessageUpdated reports that a message is new or that its info changed; Parts is nil.
	MessageUpdated struct{ Message Message }
	// MessageRemoved reports that a message and its parts are gone.
	MessageRemoved struct {
		SessionID SessionID
		MessageID MessageID
	}
	// PartUpdated reports that a part opened, changed state or closed. New is set the first time
	// that a part is reported; the parts of a message are first reported in their order.
	PartUpdated struct {
		Part Part
		New  bool
	}
	// PartDelta is text appended to an open text or reasoning part. End is the length of the part's
	// text with the delta included, for readers that may have some of it already; 0 if it is not
	// known. Whole, if set, is all of the part's text so far, so that a reader who needs it does
	// not have to keep a second copy.
	PartDelta struct {
		SessionID SessionID
		MessageID MessageID
		PartID    PartID
		Delta     string
		End       int
		Whole     Streamed
	}
	// PartRemoved reports that a part is gone.
	PartRemoved struct {
		SessionID SessionID
		MessageID MessageID
		PartID    PartID
	}
	// PermissionAsked reports that a tool call is waiting for the user.
	PermissionAsked struct{ Ask Ask }
	// PermissionReplied says how an ask ended.
	PermissionReplied struct {
		SessionID SessionID
		AskID     AskID
		Reply     ReplyKind
	}
	// QuestionAsked reports that a tool call is waiting for answers.
	QuestionAsked struct{ Ask QuestionAsk }
	// QuestionReplied carries the answers: labels or free text for each question.
	QuestionReplied struct {
		SessionID SessionID
		AskID     AskID
		Answers   [][]string
	}
	// QuestionRejected reports that the user dismissed the questions.
	QuestionRejected struct {
		SessionID SessionID
		AskID     AskID
	}
	// TodoUpdated carries a session's new task list.
	TodoUpdated struct {
		SessionID SessionID
		Todos     []Todo
	}
	// MCPToolsChanged reports that an MCP server now offers different tools.
	MCPToolsChanged struct{ Server string }
	// MCPBrowserFailed reports that no browser could be opened to log in to a server.
	MCPBrowserFailed struct{ Server, URL string }
	// FileEdited reports that a tool wrote a file.
	FileEdited struct{ File string }
	// FileWatched reports that a file was added, changed or removed ("add", "change", "unlink").
	FileWatched struct{ File, Op string }
	// CommandExecuted reports that a command prompt was run.
	CommandExecuted struct {
		Name      string
		SessionID SessionID
		Arguments string
		MessageID MessageID
	}
	// ProjectUpdated reports that a project's fields changed.
	ProjectUpdated struct{ Project Project }
	// WorktreeReady reports that the files of a new linked worktree are there.
	WorktreeReady struct{ Name, Branch string }
	// WorktreeFailed reports that a linked worktree could not be prepared, or that its start
	// command failed.
	WorktreeFailed struct{ Message string }
	// EventsMissed reports that this process was away for so long that events of others
	// are gone: whoever shows something reads it again.
	EventsMissed struct{}
	// InstanceDisposed reports that a directory's instance ended.
	InstanceDisposed struct{ Directory string }
	// ClientEvent is something that clients tell each other through lathe, which only passes it on:
	// a request to the screen, a terminal that was opened. Properties is a JSON object in a form
	// that the clients agreed on.
	ClientEvent struct {
		Type       string
		Properties []byte
	}
)

func (SessionCreated) isEvent()    {}
func (SessionUpdated) isEvent()    {}
func (SessionDeleted) isEvent()    {}
func (SessionStatus) isEvent()     {}
func (SessionFailed) isEvent()     {}
func (SessionDiff) isEvent()       {}
func (SessionCompacted) isEvent()  {}
func (SessionPruned) isEvent()     {}
func (UndoOff) isEvent()           {}
func (SessionMode) isEvent()       {}
func (Notice) isEvent()            {}
func (LSPUpdated) isEvent()        {}
func (LSPDiagnosed) isEvent()      {}
func (JobChanged) isEvent()        {}
func (MessageUpdated) isEvent()    {}
func (MessageRemoved) isEvent()    {}
func (PartUpdated) isEvent()       {}
func (PartDelta) isEvent()         {}
func (PartRemoved) isEvent()       {}
func (PermissionAsked) isEvent()   {}
func (PermissionReplied) isEvent() {}
func (QuestionAsked) isEvent()     {}
func (QuestionReplied) isEvent()   {}
func (QuestionRejected) isEvent()  {}
func (TodoUpdated) isEvent()       {}
func (MCPToolsChanged) isEvent()   {}
func (MCPBrowserFailed) isEvent()  {}
func (FileEdited) isEvent()        {}
func (FileWatched) isEvent()       {}
func (CommandExecuted) isEvent()   {}
func (ProjectUpdated) isEvent()    {}
func (WorktreeReady) isEvent()     {}
func (WorktreeFailed) isEvent()    {}
func (EventsMissed) isEvent()      {}
func (InstanceDisposed) isEvent()  {}
func (ClientEvent) isEvent()       {}

// OfTerminal reports whether the event tells of a terminal that a client opened.
func (ev ClientEvent) OfTerminal() bool { return strings.HasPrefix(ev.Type, "pty.") }

// SessionOf returns the session an event is about, or "" for events of a
// directory or the process.
func SessionOf(ev Event) SessionID {
	switch ev := ev.(type) {
	case PartDelta:
		return ev.SessionID
	case PartUpdated:
		return ev.Part.SessionID
	case MessageUpdated:
		return ev.Message.SessionID
	case SessionStatus:
		return ev.SessionID
	case SessionCreated:
		return ev.Session.ID
	case SessionUpdated:
		return ev.Session.ID
	case SessionDeleted:
		return ev.Session.ID
	case SessionFailed:
		return ev.SessionID
	case SessionDiff:
		return ev.SessionID
	case SessionCompacted:
		return ev.SessionID
	case SessionPruned:
		return ev.SessionID
	case JobChanged:
		return ev.SessionID
	case UndoOff:
		return ev.SessionID
	case SessionMode:
		return ev.SessionID
	case Notice:
		return ev.SessionID
	case MessageRemoved:
		return ev.SessionID
	case PartRemoved:
		return ev.SessionID
	case PermissionAsked:
		return ev.Ask.SessionID
	case PermissionReplied:
		return ev.SessionID
	case QuestionAsked:
		return ev.Ask.SessionID
	case QuestionReplied:
		return ev.SessionID
	case QuestionRejected:
		return ev.SessionID
	case TodoUpdated:
		return ev.SessionID
	case CommandExecuted:
		return ev.SessionID
	}
	return ""
}

// Streamed is text that grows. It is safe for concurrent use.
type Streamed interface {
	// Slice returns the bytes from one offset up to another. Bytes that it has returned once never
	// change.
	Slice(from, to int) string
	// HasPrefix reports whether the text begins with s.
	HasPrefix(s string) bool
}

// Beyond returns the delta without the part that a reader already has, which holds the first have
// bytes of the part's text. If the end of the delta is not known, all of it is returned.
func (d PartDelta) Beyond(have int) PartDelta {
	if missing := d.End - have; d.End > 0 && missing < len(d.Delta) {
		d.Delta = d.Delta[len(d.Delta)-max(missing, 0):]
	}
	return d
}
