// Package openaichat speaks the Chat Completions protocol, as OpenAI and the
// many vendors and local servers that imitate it understand it. What vendors do
// differently is told by the request (ReasoningField, Options), not by names of
// vendors, save where the model's family decides.
//
// The request's CacheKey is sent only with the option setCacheKey, since many
// vendors refuse fields that they do not know.
package openaichat

import (
	"context"
	"encoding/json"
	"iter"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

const (
	name      = "openaichat" // key of what the protocol attaches to blocks
	publicURL = "https://api.openai.com/v1"
)

// Model is a Chat Completions endpoint. It is safe for concurrent use.
type Model struct {
	transport *adapter.Transport
	url       string
	key       string
}

// New returns the model behind an endpoint.
func New(e adapter.Endpoint) llm.Model {
	return &Model{transport: adapter.NewTransport(e), url: adapter.JoinURL(e.BaseURL, publicURL, "/chat/completions"), key: e.Key}
}

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		body, err := encode(req)
		if err != nil {
			yield(nil, err)
			return
		}
		header := map[string]string{}
		if m.key != "" {
			header["Authorization"] = "Bearer " + m.key
		}
		m.transport.Stream(ctx, adapter.Call{Request: req, URL: m.url, Header: header, Body: body, Decoder: &decoder{}})(yield)
	}
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
