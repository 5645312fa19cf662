// Package anthropic speaks the Anthropic Messages protocol.
//
// Cache breakpoints are the only part of a body that moves when a conversation
// grows: a marked block carries its cache_control as the last member, so two
// requests are the same bytes up to the end of the shorter one once the marks
// are taken out. The provider's cache does not see them either.
package anthropic

import (
	"context"
	"iter"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

const (
	name      = "anthropic" // key of what the protocol attaches to blocks
	publicURL = "https://api.anthropic.com/v1"
	version   = "2023-06-01"

	betaThinking = "interleaved-thinking-2025-05-14"
	betaTools    = "fine-grained-tool-streaming-2025-05-14"
)

// Model is a Messages endpoint. It is safe for concurrent use.
type Model struct {
	transport *adapter.Transport
	url       string
	key       string
}

// New returns the model behind an endpoint.
func New(e adapter.Endpoint) llm.Model {
	return &Model{transport: adapter.NewTransport(e), url: adapter.JoinURL(e.BaseURL, publicURL, "/messages"), key: e.Key}
}

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		body, err := encode(req)
		if err != nil {
			yield(nil, err)
			return
		}
		m.transport.Stream(ctx, adapter.Call{Request: req, URL: m.url, Header: m.header(req), Body: body, Decoder: &decoder{}})(yield)
	}
}

func (m *Model) header(req *llm.Request) map[string]string {
	beta := betaThinking + "," + betaTools
	if streaming, ok := req.Options["toolStreaming"].(bool); ok && !streaming {
		beta = betaThinking
	}
	return map[string]string{"anthropic-version": version, "anthropic-beta": beta, "x-api-key": m.key}
}

// meta is what the protocol attaches to reasoning.
type meta struct {
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redactedData,omitempty"`
}
