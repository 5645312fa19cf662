package llmtest_test

import (
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

// endless is a provider that says head once and then the same for ever.
type endless struct {
	head, again string
	kind        string // content type; empty: text/event-stream
}

func (e endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {or(e.kind, "text/event-stream")}}, Request: r,
		Body: io.NopCloser(io.MultiReader(strings.NewReader(e.head), &repeat{text: e.again}))}, nil
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.text)
	}
	return n, nil
}

func sse(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }

var long = strings.Repeat("x", 4000)

// runaways are answers that never end, in ways that memory could be kept for.
var runaways = []struct {
	protocol, name string
	endless
}{
	{"openaichat", "text", endless{again: sse(`{"choices":[{"index":0,"delta":{"content":"` + long + `"}}]}`)}},
	{"openaichat", "reasoning details", endless{again: sse(`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","text":"` + long + `"}]}}]}`)}},
	{"openaichat", "encrypted details", endless{again: sse(`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"` + long + `"}]}}]}`)}},
	{"openaichat", "arguments", endless{head: sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"n"}}]}}]}`),
		again: sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"` + long + `"}}]}}]}`)}},
	{"openaichat", "calls", endless{again: sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"","function":{"name":"n","arguments":"{}"}}]}}]}`)}},
	{"openaichat", "one document", endless{head: `{"choices":[{"message":{"content":"`, again: long, kind: "application/json"}},
	{"anthropic", "text", endless{head: sse(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		again: sse(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + long + `"}}`)}},
	{"anthropic", "signature", endless{head: sse(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`),
		again: sse(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"` + long + `"}}`)}},
	{"anthropic", "arguments", endless{head: sse(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"i","name":"n","input":{}}}`),
		again: sse(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + long + `"}}`)}},
	{"anthropic", "calls", endless{again: sse(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"i","name":"n","input":{}}}`, `{"type":"content_block_stop","index":0}`)}},
	{"anthropic", "blocks", endless{again: sse(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_stop","index":0}`)}},
	{"openai", "text", endless{again: sse(`{"type":"response.output_text.delta","output_index":0,"delta":"` + long + `"}`)}},
	{"openai", "arguments", endless{head: sse(`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"n"}}`),
		again: sse(`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"` + long + `"}`)}},
	{"openai", "one huge event", endless{head: `data: {"type":"response.output_text.delta","delta":"`, again: long}},
	{"google", "text", endless{again: sse(`{"candidates":[{"index":0,"content":{"parts":[{"text":"` + long + `"}]}}]}`)}},
	{"google", "calls", endless{again: sse(`{"candidates":[{"index":0,"content":{"parts":[{"functionCall":{"name":"n","args":{}}}]}}]}`)}},
	{"google", "list of chunks", endless{head: "[", again: `{"candidates":[]},`, kind: "application/json"}},
}

// An answer that never ends is ended, with an error that says so, before it costs
// more than four times what an answer may hold; and nothing of it stays.
func TestRunawayAnswers(t *testing.T) {
	const bound = 4 * 32 << 20
	for _, tt := range runaways {
		t.Run(tt.protocol+"/"+tt.name, func(t *testing.T) {
			req := request(tt.protocol)
			req.MaxTokens = 0 // the largest bound
			before := heap(true)
			peak, err := read(t, tt.protocol, tt.endless, req)
			if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.KindProtocol || e.Retryable != (tt.name == "calls") {
				t.Errorf("error %#v, want the protocol's", err)
			}
			if after := givenBack(before + 8<<20); peak > before+bound || after > before+8<<20 {
				t.Errorf("%d MiB before, %d at most, %d after", before>>20, peak>>20, after>>20)
			}
		})
	}
}

// An answer is bounded by the output limit that it was asked with.
func TestAnswerKeepsToItsLimit(t *testing.T) {
	req := request("openaichat")
	req.MaxTokens = 1000
	told := 0
	for ev, err := range adapterOf("openaichat").new(adapter.Endpoint{Client: &http.Client{Transport: runaways[0].endless}}).Stream(t.Context(), req) {
		if d, ok := ev.(llm.TextDelta); ok {
			told += len(d.Text)
		}
		if err != nil && !strings.Contains(err.Error(), "does not end: it is larger than 2.0 MiB, with an output limit of 1000 tokens") {
			t.Error(err)
		}
	}
	if want := 2<<20 + 16*1000; told > want || told < want-2*len(long) {
		t.Errorf("%d bytes were told, want about %d", told, want)
	}
}

func adapterOf(name string) (a struct {
	name string
	new  func(adapter.Endpoint) llm.Model
}) {
	for _, a = range adapters {
		if a.name == name {
			break
		}
	}
	return a
}

// read takes in an answer and returns the largest heap meanwhile.
func read(t *testing.T, protocol string, e endless, req *llm.Request) (peak uint64, err error) {
	n := 0
	for ev, streamErr := range adapterOf(protocol).new(adapter.Endpoint{Client: &http.Client{Transport: e}}).Stream(t.Context(), req) {
		if n++; n%512 == 0 {
			peak = max(peak, heap(false))
		}
		if _, ok := ev.(llm.Finish); ok {
			t.Error("a runaway answer is finished")
		}
		err = streamErr
	}
	return max(peak, heap(false)), err
}

// givenBack waits until the heap is below a size, since pools and connections let
// go of their buffers one after another, and returns its size.
func givenBack(size uint64) uint64 {
	after := heap(true)
	for range 100 {
		if after <= size {
			break
		}
		time.Sleep(10 * time.Millisecond)
		after = heap(true)
	}
	return after
}

func heap(collect bool) uint64 {
	if collect {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
