// Package google speaks the Gemini generateContent protocol.
package google

import (
	"encoding/json"
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

const (
	name      = "google" // key of what the protocol attaches to blocks
	publicURL = "https://generativelanguage.googleapis.com/v1beta"
)

// New returns the model behind an endpoint.
func New(e adapter.Endpoint) llm.Model {
	return adapter.NewModel(e, adapter.Protocol{
		Encode:  encode,
		URL:     func(req *llm.Request) string { return address(e.BaseURL, req.Model) },
		Header:  func(*llm.Request) map[string]string { return map[string]string{"x-goog-api-key": e.Key} },
		Decoder: func() adapter.Decoder { return &decoder{} },
	})
}

// address puts the model into the path; one with a slash names its own collection.
func address(base, model string) string {
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	return adapter.JoinURL(base, publicURL, "/"+model+":streamGenerateContent?alt=sse")
}

// meta is what the protocol attaches to reasoning and to tool calls.
type meta struct {
	Signature string `json:"thoughtSignature,omitempty"`
	ID        string `json:"id,omitempty"` // the service's own of a call, where it gave one
}

func (m meta) wrap() map[string]json.RawMessage {
	if m == (meta{}) {
		return nil
	}
	return adapter.Meta(name, m)
}

// isGemini3 reports whether a model demands signatures on calls and takes media
// inside results.
func isGemini3(model string) bool { return strings.Contains(model, "gemini-3") }
