// Package llm is the contract between the turn and the model protocols: a
// [Request] goes in, a stream of [Event] values comes out, and everything that
// can go wrong is an [*Error]. It knows no vendor; each protocol has a package
// of its own below this directory.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// Model streams the answer to a request. Implementations are safe for
// concurrent use.
type Model interface {
	// Stream sends the request and yields events until a [Finish], which is
	// always the last event of a complete answer. A failure is yielded once, as
	// an *Error, and ends the stream; a stream that ends without Finish was cut
	// and yields a retryable *Error. Cancelling ctx or breaking out of the loop
	// closes the connection; the yielded error is then context.Cause(ctx).
	Stream(ctx context.Context, req *Request) iter.Seq2[Event, error]
}

// Request is one model request. Serialising the same Request twice gives the
// same bytes, and appending messages only appends to the body, so that a
// provider's prefix cache keeps working.
type Request struct {
	Model    string   // the provider's name for the model
	System   []string // system blocks, in order
	Messages []Message
	Tools    []Tool // in a fixed order
	Choice   Choice

	MaxTokens   int // 0: leave it out where the protocol allows
	Temperature *float64
	TopP        *float64
	TopK        *int

	// Options are provider options as OpenCode names them ("reasoningEffort",
	// "thinking", "store" …). An adapter translates those that it knows and
	// sends the rest as they are, at the top level of the body.
	Options map[string]any
	// Headers are added to the request, after the adapter's own.
	Headers map[string]string
	// CacheKey is a stable key of the conversation, for protocols with a
	// prompt cache key.
	CacheKey string
	// CacheMarks asks for prompt-cache breakpoints on the first two system
	// blocks and the last two messages, where the protocol has them.
	CacheMarks bool
	// ReasoningField is the field of an assistant message that carries earlier
	// reasoning, for Chat-compatible vendors that want it back
	// ("reasoning_content", "reasoning_details"); empty for none.
	ReasoningField string
	// ReasoningOptional leaves the field out of messages without reasoning of this
	// model; vendors that ask for the field want it in every message.
	ReasoningOptional bool
	// Origin is "provider/model"; reasoning metadata is sent back only to its origin.
	Origin string
}

// Choice says whether the model may, must or must not call a tool.
type Choice string

// Tool choices. The empty Choice leaves it to the protocol's default.
const (
	ChoiceAuto     Choice = "auto"
	ChoiceNone     Choice = "none"
	ChoiceRequired Choice = "required"
)

// Tool is a tool as the model sees it. Schema is a JSON Schema object.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Role is who speaks.
type Role string

// Roles of a message.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // holds only ToolResult content
)

// Message is one message of the conversation.
type Message struct {
	Role    Role
	Content []Content
}

// Content is a piece of a message: [Text], [Reasoning], [Media], [ToolUse] or
// [ToolResult].
type Content interface{ isContent() }

// Text is words.
type Text struct{ Text string }

// Reasoning is earlier reasoning of the model. Meta is what the protocol
// attached to it; Origin names the "provider/model" it came from. An adapter
// drops Meta of another origin, and then sends the text only where the
// protocol accepts unsigned reasoning.
type Reasoning struct {
	Text   string
	Meta   map[string]json.RawMessage
	Origin string
}

// Media is an image, a PDF or another file. Data is the raw content; URL is set
// instead for a file that stays remote.
type Media struct {
	MIME string
	Name string
	Data []byte
	URL  string
}

// ToolUse is a call the model made. Input is a JSON object.
type ToolUse struct {
	ID     string
	Name   string
	Input  json.RawMessage
	Meta   map[string]json.RawMessage
	Origin string
}

// ToolResult is what a call returned.
type ToolResult struct {
	ID     string
	Name   string
	Output string
	Media  []Media
	Failed bool
}

func (Text) isContent()       {}
func (Reasoning) isContent()  {}
func (Media) isContent()      {}
func (ToolUse) isContent()    {}
func (ToolResult) isContent() {}

// Event is a piece of an answer. Blocks (text, reasoning, tool calls) are told
// apart by ID, which is unique within the stream. Every block is started once,
// then ended once, before Finish; an adapter closes what a provider left open.
type Event interface{ isEvent() }

type (
	// Start reports that the provider accepted the request and is answering.
	Start struct{}
	// TextStart opens a text block.
	TextStart struct{ ID string }
	// TextDelta appends to a text block. Text is valid UTF-8.
	TextDelta struct{ ID, Text string }
	// TextEnd closes a text block.
	TextEnd struct {
		ID   string
		Meta map[string]json.RawMessage
	}
	// ReasoningStart opens a reasoning block.
	ReasoningStart struct{ ID string }
	// ReasoningDelta appends to a reasoning block.
	ReasoningDelta struct{ ID, Text string }
	// ReasoningEnd closes a reasoning block; Meta holds signatures or encrypted content.
	ReasoningEnd struct {
		ID   string
		Meta map[string]json.RawMessage
	}
	// ToolStart opens a tool call; its arguments follow.
	ToolStart struct{ ID, CallID, Name string }
	// ToolDelta appends to the raw arguments of a call.
	ToolDelta struct{ ID, JSON string }
	// ToolEnd closes a call. Input is the raw arguments as received; it need not
	// be valid JSON. Empty arguments are given as "{}". Cut reports that the
	// answer ended at the output limit within the arguments: what came of them is
	// not what the model meant to say.
	ToolEnd struct {
		ID, CallID, Name string
		Input            string
		Cut              bool
		Meta             map[string]json.RawMessage
	}
	// Finish ends the answer.
	Finish struct {
		Reason FinishReason
		Raw    string // the provider's own word
		Usage  Usage
	}
)

func (Start) isEvent()          {}
func (TextStart) isEvent()      {}
func (TextDelta) isEvent()      {}
func (TextEnd) isEvent()        {}
func (ReasoningStart) isEvent() {}
func (ReasoningDelta) isEvent() {}
func (ReasoningEnd) isEvent()   {}
func (ToolStart) isEvent()      {}
func (ToolDelta) isEvent()      {}
func (ToolEnd) isEvent()        {}
func (Finish) isEvent()         {}

// FinishReason is why the model stopped; the values equal lathe.Finish.
type FinishReason string

// Reasons a model stops.
const (
	FinishStop      FinishReason = "stop"
	FinishToolCalls FinishReason = "tool-calls"
	FinishLength    FinishReason = "length"
	FinishFilter    FinishReason = "content-filter"
	FinishUnknown   FinishReason = "unknown"
)

// Usage is what the provider reports. Input excludes cached tokens and Output
// excludes reasoning, whatever the protocol counts. Missing and negative numbers
// are zero; Reported is false when the provider reported nothing.
type Usage struct {
	Input, Output, Reasoning, CacheRead, CacheWrite int64
	Reported                                        bool
}
