package api

import (
	"encoding/json"

	"lathe"
)

// Replay is the requests of a session, rebuilt from what is stored by the code that made them.
type Replay struct {
	SessionID lathe.SessionID `json:"sessionID"`
	Title     string          `json:"title"`
	Notes     []string        `json:"notes"` // where all of them may differ from what was sent
	Count     int             `json:"count"` // how many requests the session has
	Steps     []ReplayStep    `json:"steps"`
}

// ReplayStep is one request.
type ReplayStep struct {
	Number  int             `json:"number"` // from 1
	Answer  lathe.MessageID `json:"answer"` // the message that answered it
	Kind    string          `json:"kind"`   // "step" or "compaction"
	Agent   string          `json:"agent"`
	Model   string          `json:"model"`
	Notes   []string        `json:"notes,omitempty"`   // where it may differ from what was sent
	Change  *Change         `json:"change,omitempty"`  // nil for the first request
	Request *Request        `json:"request,omitempty"` // nil: it cannot be rebuilt
}

// Change compares a request with the one before it. If Differs is empty, the request begins with
// all of the one before.
type Change struct {
	Differs  string `json:"differs,omitempty"` // the first piece that changed: "tools", "system 2", "message 12 (tool read)"
	Because  string `json:"because,omitempty"` // why, if that is known
	System   bool   `json:"system,omitempty"`  // the system prompt changed
	Tools    bool   `json:"tools,omitempty"`   // the tools changed
	Kept     int    `json:"kept"`              // messages at the beginning that both requests have
	Gone     int    `json:"gone,omitempty"`    // messages after those that only the earlier request had
	Added    int    `json:"added"`             // messages after those that are new
	Settings bool   `json:"settings,omitempty"`
}

// Request is what a model is sent, before its protocol writes it.
type Request struct {
	Model       string           `json:"model"` // as the provider calls it
	System      []string         `json:"system,omitempty"`
	Tools       []RequestTool    `json:"tools,omitempty"`
	Messages    []RequestMessage `json:"messages"`
	Choice      string           `json:"toolChoice,omitempty"`
	MaxTokens   int              `json:"maxTokens,omitempty"`
	Temperature *float64         `json:"temperature,omitempty"`
	TopP        *float64         `json:"topP,omitempty"`
	TopK        *int             `json:"topK,omitempty"`
	Options     map[string]any   `json:"options,omitempty"`
}

// RequestTool is a tool as the model sees it.
type RequestTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// RequestMessage is one message of a request.
type RequestMessage struct {
	Role    string           `json:"role"` // "user", "assistant" or "tool"
	Content []RequestContent `json:"content"`
}

// RequestContent is a piece of a message. Its type determines which fields are set.
type RequestContent struct {
	Type   string          `json:"type"` // "text", "reasoning", "file", "call" or "result"
	Text   string          `json:"text,omitempty"`
	ID     string          `json:"id,omitempty"`   // of the call
	Name   string          `json:"name,omitempty"` // of the tool, or of the file
	Input  json.RawMessage `json:"input,omitempty"`
	Failed bool            `json:"failed,omitempty"`
	MIME   string          `json:"mime,omitempty"`
	Size   int             `json:"size,omitempty"`   // of the file, in bytes
	SHA256 string          `json:"sha256,omitempty"` // of the file, whose content is left out
	URL    string          `json:"url,omitempty"`
	// Files are what a result shows in addition to its text.
	Files []RequestContent `json:"files,omitempty"`
	Meta  []string         `json:"meta,omitempty"` // names of what the protocol attached, such as signatures
}
