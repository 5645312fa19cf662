package llmtest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	. "lathe/internal/llm/llmtest"
)

const benchDeltas = 20_000

// BenchmarkStream decodes an answer of 20,000 deltas.
func BenchmarkStream(b *testing.B) {
	for _, a := range adapters {
		b.Run(a.name, func(b *testing.B) {
			body, err := Transcript(a.name, Step{Blocks: []Block{Text(strings.Repeat("word ", benchDeltas))}})
			if err != nil {
				b.Fatal(err)
			}
			model := a.new(Fixed{Body: body}.Endpoint())
			req := request(a.name)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for ev, err := range model.Stream(b.Context(), req) {
					if err != nil {
						b.Fatal(err)
					}
					if _, ok := ev.(llm.TextDelta); ok {
						n++
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/delta")
		})
	}
}

// BenchmarkRequest builds a request of 400 messages.
func BenchmarkRequest(b *testing.B) {
	for _, a := range adapters {
		b.Run(a.name, func(b *testing.B) {
			req := request(a.name)
			for i := range 200 {
				id := fmt.Sprintf("call_%d", i)
				req.Messages = append(req.Messages,
					llm.Message{Role: llm.RoleAssistant, Content: []llm.Content{llm.Text{Text: "I read the file."}, llm.ToolUse{ID: id, Name: "read", Input: []byte(`{"path":"internal/llm/llm.go"}`)}}},
					llm.Message{Role: llm.RoleTool, Content: []llm.Content{llm.ToolResult{ID: id, Name: "read", Output: strings.Repeat("00001| package llm // \"quoted\"\n", 60)}}})
			}
			var sent int
			client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				sent = int(r.ContentLength)
				return &http.Response{StatusCode: 400, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
			})}
			model := a.new(adapter.Endpoint{Client: client})
			b.ReportAllocs()
			for b.Loop() {
				for range model.Stream(b.Context(), req) {
				}
			}
			b.SetBytes(int64(sent))
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
