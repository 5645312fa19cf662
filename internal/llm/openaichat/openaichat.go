// Package openaichat speaks the Chat Completions protocol, as OpenAI and the
// many vendors and local servers that imitate it understand it. What vendors do
// differently is told by the request (ReasoningField, Options), not by names of
// vendors, save where the model's family decides.
//
// The request's CacheKey is sent only with the option setCacheKey, since many
// vendors refuse fields that they do not know.
package openaichat

import (
	"encoding/json"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

const name = "openaichat" // key of what the protocol attaches to blocks

// New returns the model behind an endpoint.
func New(e adapter.Endpoint) llm.Model {
	return adapter.NewOpenAI(e, "/chat/completions", encode, func() adapter.Decoder { return &decoder{} })
}

// meta is what the protocol attaches to reasoning and to tool calls.
type meta struct {
	Details []detail        `json:"reasoning_details,omitempty"`
	Extra   json.RawMessage `json:"extra_content,omitempty"`
}

// detail is one piece of structured reasoning.
type detail struct {
	Type      string      `json:"type"`
	ID        string      `json:"id,omitempty"`
	Format    string      `json:"format,omitempty"`
	Index     json.Number `json:"index,omitempty"`
	Text      string      `json:"text,omitempty"`
	Summary   string      `json:"summary,omitempty"`
	Data      string      `json:"data,omitempty"`
	Signature string      `json:"signature,omitempty"`
}
