// Package openai speaks the OpenAI Responses protocol, without state on the
// provider's side: nothing is stored, item identifiers are dropped, and
// reasoning goes back and forth as encrypted content.
package openai

import (
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

const name = "openai" // key of what the protocol attaches to blocks

// New returns the model behind an endpoint.
func New(e adapter.Endpoint) llm.Model {
	return adapter.NewOpenAI(e, "/responses", encode, func() adapter.Decoder { return &decoder{} })
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
