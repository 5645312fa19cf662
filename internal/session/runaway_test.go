package session_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/openaichat"
	"lathe/internal/session"
)

// runaway is a provider that says the same for ever.
type runaway struct{ head, again string }

func (p runaway) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: io.NopCloser(io.MultiReader(strings.NewReader(p.head), &forever{again: []byte(p.again)}))}, nil
}

type forever struct {
	again []byte
	rest  bytes.Reader
}

func (f *forever) Read(p []byte) (int, error) {
	if f.rest.Len() == 0 {
		f.rest.Reset(f.again)
	}
	return f.rest.Read(p)
}

// runawayModel watches the heap while its answer is taken in.
type runawayModel struct {
	llm.Model
	peak *uint64
}

func (m runawayModel) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		n := 0
		for ev, err := range m.Model.Stream(ctx, req) {
			if n++; n%64 == 0 {
				*m.peak = max(*m.peak, heapNow())
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

func heapNow() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A provider that never ends its answer costs a bounded amount of memory, which
// is given back, and the session goes on.
func TestRunawayProvider(t *testing.T) {
	long := strings.Repeat("words that do not end, ", 200)
	for _, tt := range []struct {
		name, head, again, why string
	}{
		{"text", "", `data: {"choices":[{"index":0,"delta":{"content":"` + long + `"}}]}` + "\n\n", "does not end"},
		{"arguments", `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"write","arguments":"{\"content\":\""}}]}}]}` + "\n\n",
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"` + long + `"}}]}}]}` + "\n\n", "does not end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var peak uint64
			p := newPlay(t, nil, func(*llm.Request) say { return say{text: "fine"} })
			p.model = runawayModel{openaichat.New(adapter.Endpoint{BaseURL: "http://x/v1", Client: &http.Client{Transport: runaway{tt.head, tt.again}}}), &peak}
			p.open()
			runtime.GC()
			before := heapNow()
			id := p.session()
			out := p.prompt(id, session.Prompt{}, "go on for ever")
			failure, ok := errors.AsType[*lathe.APIFailure](out.Failure)
			if !ok || !strings.Contains(failure.Message, tt.why) {
				t.Fatalf("failure %v", out.Failure)
			}
			runtime.GC()
			if after := heapNow(); peak > before+64<<20 || after > before+8<<20 {
				t.Errorf("%d MiB before, %d at most, %d after", before>>20, peak>>20, after>>20)
			}
			p.model = nil
			if out := p.prompt(id, session.Prompt{}, "and now"); out.Failure != nil {
				t.Errorf("failure %v", out.Failure)
			}
		})
	}
}
