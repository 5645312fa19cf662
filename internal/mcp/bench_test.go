package mcp

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkCall is a call of a local server through lathe, and through the SDK alone.
func BenchmarkCall(b *testing.B) {
	r := benchRig(b)
	srv := r.all()[0]
	c, err := srv.connect(b.Context(), true)
	if err != nil {
		b.Fatal(err)
	}
	args := []byte(`{"text":"x"}`)
	b.Run("lathe", func(b *testing.B) {
		for b.Loop() {
			if _, err := srv.call(b.Context(), "echo", args, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sdk", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.session.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "x"}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOffer is what a session's beginning pays for ten servers that are known.
func BenchmarkOffer(b *testing.B) {
	r := benchRig(b)
	known := r.all()[0].known()
	for b.Loop() {
		s := New(Options{})
		for range 10 {
			srv := newServer(s, r.all()[0].conf)
			srv.looked, srv.memo = true, known
			s.list = append(s.list, srv)
		}
		o := s.Offer()
		s.Tools(&o, 200_000, nil)
	}
}
