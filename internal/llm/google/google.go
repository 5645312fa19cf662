// Package google speaks the Gemini generateContent protocol.
package google

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

const (
	name      = "google" // key of what the protocol attaches to blocks
	publicURL = "https://generativelanguage.googleapis.com/v1beta"
)

// Model is a generateContent endpoint. It is safe for concurrent use.
type Model struct {
	transport *adapter.Transport
	base      string
	key       string
}

// New returns the model behind an endpoint.
func New(e adapter.Endpoint) llm.Model {
	return &Model{transport: adapter.NewTransport(e), base: e.BaseURL, key: e.Key}
}

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		body, err := encode(req)
		if err != nil {
			yield(nil, err)
			return
		}
		m.transport.Stream(ctx, adapter.Call{
			Request: req, URL: m.url(req.Model), Header: map[string]string{"x-goog-api-key": m.key}, Body: body, Decoder: &decoder{},
		})(yield)
	}
}

// url puts the model into the path; one with a slash names its own collection.
func (m *Model) url(model string) string {
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	return adapter.JoinURL(m.base, publicURL, "/"+model+":streamGenerateContent?alt=sse")
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
