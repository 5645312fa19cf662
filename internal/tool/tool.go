// Package tool is the contract between the turn and the tools a model may use,
// and what all tools share: argument checks and output limits.
package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"lathe"
)

// Tool is something a model may use. Implementations are safe for concurrent
// use by several calls.
type Tool interface {
	// Spec describes the tool to the model.
	Spec() Spec
	// Run carries out one call whose Input was checked against the schema. A
	// failure that the model could answer is a Result made by [Failf]; an error
	// is for what ends the call from outside: the context's cause, or a
	// permission that was denied or rejected (from Call.Ask).
	Run(ctx context.Context, call *Call) (Result, error)
}

// Spec is how a tool presents itself. Schema is a JSON Schema object; it is
// sent to the model as it stands, so its bytes never change within a session.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage
	// Permission is the permission name that can hide the tool ("edit" for
	// write and edit); empty means Name.
	Permission string
	// ReadOnly tools cannot change files, so they do not wait for the step's
	// snapshot and may run in parallel.
	ReadOnly bool
	// PathArg names the argument that holds the file a call works on. Calls of
	// one step that name the same file run in the order in which the model made
	// them, except that two ReadOnly ones may overlap. "*" conflicts with every
	// call that has a PathArg; empty with none.
	PathArg string
	// Quiet tools are not offered to the model. A call of one still runs, because
	// models know such tools from elsewhere.
	Quiet bool
	// Overlaps lets calls of this tool run in parallel even if their PathArg
	// makes them conflict.
	Overlaps bool
}

// Call is one use of a tool.
type Call struct {
	SessionID lathe.SessionID
	MessageID lathe.MessageID // the assistant message being produced
	CallID    string
	Agent     string
	Model     lathe.ModelRef
	Input     json.RawMessage
	// Outputs names the directory, below the one for all full outputs, that the
	// call's session shares with its subagents and forks; see [Limits.In]. Tools
	// read no other one. It is empty for calls by the user, who may read them all.
	Outputs string
	// Messages is the history the model saw, newest last. Tools read it only.
	Messages []lathe.Message
	// UserAsked is set when the user invoked the tool: permission asks that
	// guard against the model are then skipped.
	UserAsked bool
	// Direct is set when no model made the call: the user's client or a command
	// did, so nothing bounds it but the user's own rules.
	Direct bool

	// Reading returns what the rules for reading currently say about files. It is
	// nil if no rules bound the call.
	Reading func() Reading

	// Rules are what the call is judged by. Nil: nothing bounds it but the person's own
	// rules.
	Rules Rules

	// Ask asks for permission and returns nil when it is given. Otherwise the
	// tool returns the error as it is.
	Ask func(ctx context.Context, req Request) error
	// Beside runs another tool as a part of its own in the same message,
	// including its asks. It is nil if that is not possible.
	Beside func(ctx context.Context, name string, input json.RawMessage) (Result, error)
	// Spend counts model use that this call caused. Its error is the limit that was
	// reached; with zeros it only checks. It is nil if nothing is counted.
	Spend func(cost lathe.Money, tokens lathe.Tokens) error
	// Progress shows a title and metadata while the call runs. It never blocks
	// for long and may be called from several goroutines.
	Progress func(title string, metadata map[string]any)
}

// Reading says whether the contents of files may be shown, according to the rules
// for reading. Paths are resolved. It is safe for concurrent use.
type Reading interface {
	// Restricts reports whether one of the actions can apply to any file.
	Restricts(actions ...lathe.Action) bool
	// Path judges a file by its name alone.
	Path(path string) Verdict
	// Below returns Path for the files below a directory, by their path relative to
	// it with forward slashes. It is cheap enough for every file of a large tree.
	Below(dir string) func(path string) Verdict
	// Content judges a file's contents: by its name, and by other names that
	// hard links give it.
	Content(path string) Verdict
	// Others returns the other paths of a hard-linked file under which its
	// contents are restricted. Sure is false if not all could be looked for.
	Others(path string) (paths []string, sure bool)
}

// Rules say what may be done.
type Rules interface {
	Action(permission, pattern string) lathe.Action
}

// Verdict is what the rules say, and the rule that decides.
type Verdict struct {
	Action lathe.Action
	Rule   lathe.Rule
}

// Request is what a tool wants permission for.
type Request struct {
	Permission string
	Patterns   []string // what is being done now
	Always     []string // what an "always" reply allows
	Metadata   map[string]any
	// Also is what else the same call needs. It is judged together with the rest
	// and asked about once. Requests in it have no Also of their own.
	Also []Request
	// Next is what the call will ask for after this, if anything. Optional.
	Next *Next
	// Hold says that the call can do it with what it changes held back. Optional.
	Hold *Hold
	// Doing says what the call would do, and Instead what could be done instead, for
	// the model if the call is refused: "this command writes c.txt", "drop the
	// redirection". Both may be empty.
	Doing, Instead string
}

// Next is a request that follows another in the same call. If a person has to be asked
// about the first anyway, both become one ask, and Given is set if the answer was yes;
// the call then need not ask again. Otherwise it has no effect.
type Next struct {
	Request Request
	Given   bool
}

// Hold goes with a request that a rule may want to review. Then nobody is asked, and Given is
// set: the call holds back what it changes, and asks again, without Hold, before it changes anything.
type Hold struct{ Given bool }

// MetaAlso is the key of an ask's metadata that lists what else one answer
// allows: objects with permission, patterns and always.
const MetaAlso = "also"

// MetaShared is the key of an ask's metadata that is true where servers share what is allowed
// from then on: what is not allowed for good then holds for a day, whichever lathe ends.
const MetaShared = "shared"

// MetaProtected is a key of Request.Metadata. If it is true, the user must be
// asked even if the rules allow it (a rule that denies still denies), an earlier
// "always" does not count, and if nobody can be asked the answer is no. Metadata
// "reason" says why, for people.
const MetaProtected = "protected"

// MetaNamed is a key of Request.Metadata that goes with MetaProtected: how a
// rule names what is asked for, without wildcards, such as
// "http://localhost:3000/". A rule that allows still counts if its pattern
// begins like this, and so does an approval if the request offers one.
const MetaNamed = "named"

// Result is what a call returns.
type Result struct {
	Title       string
	Output      string
	Metadata    map[string]any
	Attachments []lathe.File
	// Failed marks a failure that the model is told about; Output is the message.
	Failed bool
}

// Failf returns a failed Result with the message.
func Failf(format string, args ...any) Result {
	return Result{Output: fmt.Sprintf(format, args...), Failed: true}
}
