package lathe

import (
	"encoding/json"
	"time"
)

// Message is one utterance and its parts. Seq orders the messages of a session;
// it is given by the store and never reused.
type Message struct {
	ID        MessageID
	SessionID SessionID
	Seq       int64
	Created   time.Time
	Info      MessageInfo
	Parts     []Part
	// Damage says why the stored message cannot be read, so that Info is only a stand-in; empty for
	// an intact message.
	Damage string
}

// MessageInfo is what a message carries apart from its parts: *[User] or *[Assistant].
type MessageInfo interface{ isMessageInfo() }

// User is what a person (or a synthetic prompt) asked.
type User struct {
	Agent   string
	Model   ModelRef
	System  string          // extra system text for the requests that answer it
	Tools   map[string]bool // tools switched on or off, by name
	Steers  bool            // arrived while a turn ran; the model is told to go on with its work
	By      string          // who asked, where people have names; their keys are used to answer
	Summary *UserSummary
}

// UserSummary describes what the turn that answered a user message changed.
type UserSummary struct {
	Title string
	Body  string
	Diffs []FileDiff
}

// Assistant is what a model answered in one step.
type Assistant struct {
	ParentID  MessageID // the user message it answers
	Agent     string
	Model     ModelRef
	Cwd, Root string
	Completed time.Time // zero while the step runs
	Finish    Finish    // empty while the step runs and after an error
	Summary   bool      // output of a compaction
	Cost      Money
	Tokens    Tokens // of the last step, which is what fills the window
	Error     Failure
}

func (*User) isMessageInfo()      {}
func (*Assistant) isMessageInfo() {}

// Finish says why a model stopped.
type Finish string

// Reasons a model stops. FinishUnknown stands for a reason the protocol does
// not name; the turn then goes on as after tool calls.
const (
	FinishStop      Finish = "stop"
	FinishToolCalls Finish = "tool-calls"
	FinishLength    Finish = "length"
	FinishFilter    Finish = "content-filter"
	FinishUnknown   Finish = "unknown"
)

// Part is one piece of a message. Seq orders the parts of a message.
type Part struct {
	ID        PartID
	MessageID MessageID
	SessionID SessionID
	Seq       int64
	Body      PartBody
	// Damage says why the stored part cannot be read, so that Body only says so; empty for an
	// intact part.
	Damage string
}

// PartBody is the content of a part, a closed set of twelve kinds: *[Text],
// *[Reasoning], *[File], *[ToolCall], *[StepStart], *[StepFinish],
// *[SnapshotMark], *[Patch], *[AgentMention], *[Retry], *[CompactionMark] and
// *[Subtask].
type PartBody interface{ isPartBody() }

// Meta is what a provider attached to a part (a signature, an encrypted
// reasoning item), by provider protocol. It is sent back only to the provider
// and model that it came from.
type Meta map[string]json.RawMessage

// Span is when something began and ended; End is zero while it is open.
type Span struct{ Start, End time.Time }

// Text is plain words. Synthetic text was not typed by the user; ignored text is
// shown but not sent to the model.
type Text struct {
	Text      string
	Synthetic bool
	Ignored   bool
	Time      Span
	Meta      Meta
}

// MetaPasted is a key of a user text's Meta: the stretches that were pasted, as a JSON list of
// [from, to] in bytes. Faces may show them folded.
const MetaPasted = "lathe.pasted"

// Reasoning is what a model thought.
type Reasoning struct {
	Text string
	Time Span
	Meta Meta
}

// File is an attachment. URL is a "data:" or "file:" URL.
type File struct {
	MIME     string
	Filename string
	URL      string
	Source   *FileSource
}

// FileSource says where in the prompt a file was named, and what it is.
type FileSource struct {
	Kind       string // "file", "symbol" or "resource"
	Path       string
	Text       SourceText
	Range      json.RawMessage // LSP range of a symbol, as received
	Name       string          // symbol name
	SymbolKind int
	Client     string // MCP server of a resource
	URI        string
}

// SourceText is a stretch of a prompt's text, in UTF-16 code units as clients count.
type SourceText struct {
	Value      string
	Start, End int
}

// ToolCall is one use of a tool.
type ToolCall struct {
	CallID string // the model's name for the call
	Tool   string
	State  ToolState
	Meta   Meta
}

// MetaWaited is a key of a call's metadata: how long it waited for the person's answer to an
// ask, in milliseconds. It is part of the call's time.
const MetaWaited = "waited"

// MetaInt reads a whole number of a call's metadata. Its type is another one after it came from
// the store or over the network.
func MetaInt(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	case float64:
		return int(n), n == float64(int(n))
	}
	return 0, false
}

// Worked returns how long a call that ended took of a span, and apart from that how long it
// waited for the person, by the metadata of its state.
func (s Span) Worked(meta map[string]any) (took, waited time.Duration) {
	if ms, ok := MetaInt(meta[MetaWaited]); ok {
		waited = time.Duration(ms) * time.Millisecond
	}
	return max(0, s.End.Sub(s.Start)-waited), waited
}

// Waited returns how long a part that is a call which ended waited for the person. The calls of
// a message wait together.
func (p Part) Waited() (waited time.Duration) {
	if c, ok := p.Body.(*ToolCall); ok {
		switch st := c.State.(type) {
		case *ToolDone:
			_, waited = st.Time.Worked(st.Metadata)
		case *ToolFailed:
			_, waited = st.Time.Worked(st.Metadata)
		}
	}
	return waited
}

// ToolState is how far a tool call has come: *[ToolPending], *[ToolRunning],
// *[ToolDone] or *[ToolFailed].
type ToolState interface{ isToolState() }

// ToolPending means the arguments are still arriving.
type ToolPending struct{ Raw string }

// ToolRunning means the tool runs. Title and Metadata are live progress.
type ToolRunning struct {
	Input    json.RawMessage
	Title    string
	Metadata map[string]any
	Start    time.Time
}

// ToolDone means the tool returned. Compacted is when its output was cleared
// from the model's view, or zero; the output itself is kept. Shown is how many
// bytes of it the model is shown where it was cut to fit, or 0 for all.
type ToolDone struct {
	Input       json.RawMessage
	Output      string
	Title       string
	Metadata    map[string]any
	Attachments []File
	Time        Span
	Compacted   time.Time
	Shown       int
}

// ToolFailed means the tool could not do it. Error is what the model is told.
type ToolFailed struct {
	Input       json.RawMessage
	Error       string
	Metadata    map[string]any
	Time        Span
	Interrupted bool // ended by an abort or a crash, not by the tool
}

func (*ToolPending) isToolState() {}
func (*ToolRunning) isToolState() {}
func (*ToolDone) isToolState()    {}
func (*ToolFailed) isToolState()  {}

// StepStart marks where a step begins and the tree it began with.
type StepStart struct{ Snapshot string }

// StepFinish marks where a step ends and what it cost.
type StepFinish struct {
	Reason   Finish
	Snapshot string
	Cost     Money
	Tokens   Tokens
}

// SnapshotMark records a tree; kept for sessions imported from OpenCode.
type SnapshotMark struct{ Snapshot string }

// Patch lists the files a step changed since the tree Hash.
type Patch struct {
	Hash  string
	Files []string // absolute paths
	// Shared lists those of Files that another session may have changed at the same time. Undoing
	// the step leaves them as they are, unless it is forced.
	Shared []string
}

// AgentMention is an @agent in a prompt.
type AgentMention struct {
	Name   string
	Source *SourceText
}

// Retry records a failed attempt.
type Retry struct {
	Attempt int
	Error   Failure
	Created time.Time
}

// CompactionMark, in a user message, asks for a compaction at this point.
type CompactionMark struct {
	Auto      bool
	Overflow  bool      // a provider refused the request because of its size
	TailStart MessageID // first message that stays word for word
}

// Subtask asks for a subagent to be run.
type Subtask struct {
	Prompt      string
	Description string
	Agent       string
	Model       ModelRef
	Command     string
}

func (*Text) isPartBody()           {}
func (*Reasoning) isPartBody()      {}
func (*File) isPartBody()           {}
func (*ToolCall) isPartBody()       {}
func (*StepStart) isPartBody()      {}
func (*StepFinish) isPartBody()     {}
func (*SnapshotMark) isPartBody()   {}
func (*Patch) isPartBody()          {}
func (*AgentMention) isPartBody()   {}
func (*Retry) isPartBody()          {}
func (*CompactionMark) isPartBody() {}
func (*Subtask) isPartBody()        {}
