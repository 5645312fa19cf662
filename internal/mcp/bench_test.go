package mcp

import (
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/config"
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

// BenchmarkFirstOffer is what the first request of a process pays for ten servers that were
// seen before: reading what they offer, freezing it, and making its tools.
func BenchmarkFirstOffer(b *testing.B) {
	r := benchRig(b)
	known := r.all()[0].known()
	o := r.o
	o.Servers = nil
	for i := range 10 {
		conf := config.MCP{Name: fmt.Sprintf("server%d", i), Type: "local", Command: []string{"x", fmt.Sprint(i)}}
		o.Servers = append(o.Servers, conf)
		if err := r.cache.put(conf, known); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		s := New(o)
		offer := s.Offer()
		offer.ID()
		if len(s.Tools(&offer, 200_000, nil)) < 10*len(known.Tools) {
			b.Fatal("tools are missing")
		}
		_ = s.Close()
	}
}
