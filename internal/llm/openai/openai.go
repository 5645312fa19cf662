// Package openai speaks the OpenAI Responses protocol, without state on the
// provider's side: nothing is stored, item identifiers are dropped, and
// reasoning goes back and forth as encrypted content.
package openai

import (
	"context"
	"iter"
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

const (
	name      = "openai" // key of what the protocol attaches to blocks
	publicURL = "https://api.openai.com/v1"
)

// Model is a Responses endpoint. It is safe for concurrent use.
type Model struct {
	transport *adapter.Transport
	url       string
	key       string
}

// New returns the model behind an endpoint.
func New(e adapter.Endpoint) llm.Model {
	return &Model{transport: adapter.NewTransport(e), url: adapter.JoinURL(e.BaseURL, publicURL, "/responses"), key: e.Key}
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

// meta is what the protocol attaches to reasoning.
type meta struct {
	ItemID    string `json:"itemId,omitempty"`
	Encrypted string `json:"reasoningEncryptedContent,omitempty"`
}

// reasons reports whether a model of the vendor's own reasons; others refuse to
// be asked for encrypted reasoning.
func reasons(model string) bool {
	for _, prefix := range []string{"gpt-3", "gpt-4", "gpt-5-chat", "chatgpt"} {
		if strings.HasPrefix(model, prefix) {
			return false
		}
	}
	return true
}
