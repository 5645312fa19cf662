// Package anthropic speaks the Anthropic Messages protocol.
//
// Cache breakpoints are the only part of a body that moves when a conversation
// grows: a marked block carries its cache_control as the last member, so two
// requests are the same bytes up to the end of the shorter one once the marks
// are taken out. The provider's cache does not see them either.
package anthropic

import (
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

// New returns the model behind an endpoint.
func New(e adapter.Endpoint) llm.Model {
	url := adapter.JoinURL(e.BaseURL, publicURL, "/messages")
	return adapter.NewModel(e, adapter.Protocol{
		Encode:  encode,
		URL:     func(*llm.Request) string { return url },
		Header:  func(req *llm.Request) map[string]string { return header(req, e.Key) },
		Decoder: func() adapter.Decoder { return &decoder{} },
	})
}

func header(req *llm.Request, key string) map[string]string {
	beta := betaThinking + "," + betaTools
	if streaming, ok := req.Options["toolStreaming"].(bool); ok && !streaming {
		beta = betaThinking
	}
	return map[string]string{"anthropic-version": version, "anthropic-beta": beta, "x-api-key": key}
}

// meta is what the protocol attaches to reasoning.
type meta struct {
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redactedData,omitempty"`
}
