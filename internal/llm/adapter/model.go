package adapter

import (
	"context"
	"iter"

	"lathe/internal/llm"
)

// Protocol is what is specific to one wire protocol.
type Protocol struct {
	// Encode returns the body of a request.
	Encode func(*llm.Request) ([]byte, error)
	// URL is where requests go, and Header what they carry besides the body,
	// including the credential.
	URL    func(*llm.Request) string
	Header func(*llm.Request) map[string]string
	// Decoder returns a decoder for one answer.
	Decoder func() Decoder
}

// NewModel returns the model that speaks a protocol at an endpoint. It is safe for
// concurrent use.
func NewModel(e Endpoint, p Protocol) llm.Model {
	return &model{transport: NewTransport(e), protocol: p}
}

type model struct {
	transport *Transport
	protocol  Protocol
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		body, err := m.protocol.Encode(req)
		if err != nil {
			yield(nil, err)
			return
		}
		m.transport.Stream(ctx, Call{
			Request: req, URL: m.protocol.URL(req), Header: m.protocol.Header(req), Body: body, Decoder: m.protocol.Decoder(),
		})(yield)
	}
}
