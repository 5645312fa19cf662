package openaichat_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/llmtest"
	"lathe/internal/llm/openaichat"
)

func answer(t *testing.T, wire string, req *llm.Request) (llmtest.Outcome, error) {
	t.Helper()
	return llmtest.Fold(openaichat.New(llmtest.Fixed{Body: []byte(wire), Split: 5}.Endpoint()).Stream(t.Context(), req), req.Origin)
}

func use(id, name, input string) llm.ToolUse {
	return llm.ToolUse{ID: id, Name: name, Input: json.RawMessage(input), Origin: "o"}
}

// stream joins chunks into a stream.
func stream(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

// lingering is a server that says what it is given and keeps the connection open.
type lingering string

func (l lingering) RoundTrip(r *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	context.AfterFunc(r.Context(), func() { pw.CloseWithError(r.Context().Err()) })
	go func() { _, _ = io.WriteString(pw, string(l)) }()
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: pr, Request: r}, nil
}

// TestServerThatNeverCloses holds that an answer with a finish reason does not
// wait minutes for an end mark that never comes.
func TestServerThatNeverCloses(t *testing.T) {
	for _, idle := range []time.Duration{0, -1} {
		synctest.Test(t, func(t *testing.T) {
			wire := lingering(stream(`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`))
			m := openaichat.New(adapter.Endpoint{BaseURL: "http://x", Client: &http.Client{Transport: wire}, Timeouts: adapter.Timeouts{Idle: idle}})
			start := time.Now()
			got, err := llmtest.Fold(m.Stream(t.Context(), &llm.Request{}), "o")
			if err != nil || got.Finish.Reason != llm.FinishStop {
				t.Errorf("answer %+v, %v", got, err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestVendors(t *testing.T) {
	const done = `[DONE]`
	stop := `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	tests := []struct {
		name, wire string
		want       []llm.Content
		reason     llm.FinishReason
		usage      llm.Usage
	}{
		{"null content and empty choices", stream(`{"choices":[]}`, `{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}`,
			`{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`, `{"choices":[{"delta":{"content":"b"}}],"usage":null}`, stop, done),
			[]llm.Content{llm.Text{Text: "ab"}}, llm.FinishStop, llm.Usage{}},
		{"keep-alive comments", ": OPENROUTER PROCESSING\n\n: x\n" + stream(`{"choices":[{"delta":{"content":"a"}}]}`) + ":\n\n" + stream(stop, done),
			[]llm.Content{llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{}},
		{"no end mark", stream(`{"choices":[{"delta":{"content":"a"}}]}`, stop), []llm.Content{llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{}},
		{"no finish reason", stream(`{"choices":[{"delta":{"content":"a"}}]}`, done), []llm.Content{llm.Text{Text: "a"}}, llm.FinishUnknown, llm.Usage{}},
		{"usage with choices", stream(`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}`, `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`, done),
			[]llm.Content{llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{Input: 6, CacheRead: 4, Output: 3, Reasoning: 2, Reported: true}},
		{"usage in a choice", stream(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":1,"cached_tokens":3}}]}`, done),
			[]llm.Content{llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{Input: 6, CacheRead: 3, Output: 1, Reported: true}},
		{"reasoning beside the completion", stream(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":22,"completion_tokens_details":{"reasoning_tokens":7}}}`, done),
			[]llm.Content{llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{Input: 10, Output: 5, Reasoning: 7, Reported: true}},
		{"odd usage", stream(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":-5,"completion_tokens":"7","prompt_tokens_details":{"cached_tokens":1e99}}}`, done),
			[]llm.Content{llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{Reported: true}},
		{"reasoning_content", stream(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, `{"choices":[{"delta":{"reasoning_content":null,"content":"a"}}]}`, stop, done),
			[]llm.Content{llm.Reasoning{Text: "hm", Origin: "o"}, llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{}},
		{"reasoning with details", stream(`{"choices":[{"delta":{"reasoning":"h","reasoning_details":[{"type":"reasoning.text","text":"h","index":0}]}}]}`,
			`{"choices":[{"delta":{"reasoning":"m","reasoning_details":[{"type":"reasoning.text","text":"m","signature":"s","index":0}]}}]}`, `{"choices":[{"delta":{"content":"a"}}]}`, stop, done),
			[]llm.Content{llm.Reasoning{Text: "hm", Origin: "o", Meta: map[string]json.RawMessage{"openaichat": json.RawMessage(`{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"hm","signature":"s"}]}`)}}, llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{}},
		{"content in parts", stream(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`, `{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}`, stop, done),
			[]llm.Content{llm.Reasoning{Text: "hm", Origin: "o"}, llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{}},
		{"calls without index", stream(`{"choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{"}}]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"2","function":{"name":"b","arguments":"{}"}}]}}]}`, stop, done),
			[]llm.Content{use("1", "a", "{}"), use("2", "b", "{}")}, llm.FinishToolCalls, llm.Usage{}},
		{"calls under one index", stream(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}},{"index":0,"id":"2","function":{"name":"b","arguments":"{\"x\":1}"}}]}}]}`, stop, done),
			[]llm.Content{use("1", "a", "{}"), use("2", "b", `{"x":1}`)}, llm.FinishToolCalls, llm.Usage{}},
		{"interleaved calls", stream(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"2","function":{"name":"b","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`, done),
			[]llm.Content{use("1", "a", `{"x":1}`), use("2", "b", "{}")}, llm.FinishToolCalls, llm.Usage{}},
		{"name after the id, arguments as an object", stream(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{}}]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","function":{"name":"a","arguments":{"x":[1]}}}]}}]}`, stop, done),
			[]llm.Content{use("1", "a", `{"x":[1]}`)}, llm.FinishToolCalls, llm.Usage{}},
		{"no arguments", stream(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":""}}]}}]}`, stop, done),
			[]llm.Content{use("1", "a", `{}`)}, llm.FinishToolCalls, llm.Usage{}},
		{"call without calls", stream(`{"choices":[{"delta":{"content":"a"},"finish_reason":"tool_calls"}]}`, done),
			[]llm.Content{llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{}},
		{"old function call", stream(`{"choices":[{"delta":{"function_call":{"name":"a","arguments":"{"}}}]}`, `{"choices":[{"delta":{"function_call":{"arguments":"}"}},"finish_reason":"function_call"}]}`, done),
			nil, llm.FinishToolCalls, llm.Usage{}},
		{"other choices", stream(`{"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"a"}}]}`, stop, done), []llm.Content{llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{}},
		{"lone surrogate", stream(`{"choices":[{"delta":{"content":"a\ud800"}}]}`, stop, done), []llm.Content{llm.Text{Text: "a\uFFFD"}}, llm.FinishStop, llm.Usage{}},
		{"wrong types", stream(`{"choices":[{"delta":{"content":5,"role":{}}}],"created":"x"}`, `{"choices":[{"delta":{"content":"a"}}]}`, stop, done), []llm.Content{llm.Text{Text: "a"}}, llm.FinishStop, llm.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := answer(t, tt.wire, &llm.Request{Origin: "o"})
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == nil { // the identifier is made up
				tt.want = []llm.Content{use(got.Content[0].(llm.ToolUse).ID, "a", "{}")}
			}
			got.Finish.Raw = ""
			want := llmtest.Outcome{Content: tt.want, Finish: llm.Finish{Reason: tt.reason, Usage: tt.usage}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	begin := `{"choices":[{"delta":{"content":"a"}}]}`
	tests := []struct {
		name, wire string
		kind       llm.Kind
		retryable  bool
	}{
		{"error chunk", stream(begin, `{"error":{"message":"busy","code":"server_is_overloaded"}}`), llm.KindServer, true},
		{"quota", stream(`{"error":{"message":"pay","code":"insufficient_quota"}}`), llm.KindQuota, false},
		{"error event", "event: error\ndata: {\"message\":\"context length exceeded\"}\n\n", llm.KindOverflow, false},
		{"error in a choice", stream(`{"choices":[{"error":{"code":502,"message":"bad"},"finish_reason":"error"}]}`), llm.KindServer, true},
		{"error as a finish reason", stream(begin, `{"choices":[{"delta":{},"finish_reason":"error"}]}`), llm.KindServer, true},
		{"broken line", stream(begin, `{"choices":[{"delta":{"content":"lost`, begin, `[DONE]`), llm.KindProtocol, true},
		{"only the end mark", stream(`[DONE]`), llm.KindCut, true},
		{"cut in a call", stream(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{"}}]}}]}`), llm.KindCut, true},
	}
	for _, tt := range tests {
		_, err := answer(t, tt.wire, &llm.Request{})
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Kind != tt.kind || e.Retryable != tt.retryable {
			t.Errorf("%s: error %#v, want %s, retryable %v", tt.name, err, tt.kind, tt.retryable)
		}
	}
}

// body returns what is sent for a request.
func body(t *testing.T, req *llm.Request) string {
	t.Helper()
	h := llmtest.New(t, nil, llmtest.Lenient())
	client := adapter.NewClient()
	defer client.CloseIdleConnections()
	for range openaichat.New(adapter.Endpoint{BaseURL: h.URL + "/v1", Client: client}).Stream(t.Context(), req) {
	}
	return string(h.Requests()[0].Body)
}

func TestRequest(t *testing.T) {
	half := 0.5
	history := []llm.Message{
		{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "hi"}}},
		{Role: llm.RoleAssistant, Content: []llm.Content{
			llm.Reasoning{Text: "hm", Origin: "p/m", Meta: map[string]json.RawMessage{"openaichat": json.RawMessage(`{"reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s"}]}`)}},
			llm.Text{Text: "ok"}, llm.ToolUse{ID: "call_1.2", Name: "read", Input: json.RawMessage(`{"a":1}`)}}},
		{Role: llm.RoleTool, Content: []llm.Content{llm.ToolResult{ID: "call_1.2", Name: "read", Output: "out", Media: []llm.Media{{MIME: "image/png", Data: []byte("x")}}}}},
		{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "go on"}}},
	}
	tests := []struct {
		name string
		req  llm.Request
		want string
	}{
		{"options", llm.Request{Model: "m", MaxTokens: 10, Temperature: &half, Options: map[string]any{"reasoningEffort": "low", "usage": map[string]any{"include": true}, "parallelToolCalls": true, "setCacheKey": true, "maxTokensField": "max_completion_tokens"}, CacheKey: "k", Messages: history[:1]},
			`{"model":"m","stream":true,"max_completion_tokens":10,"prompt_cache_key":"k","reasoning_effort":"low","stream_options":{"include_usage":true},"temperature":0.5,"usage":{"include":true},"messages":[{"role":"user","content":"hi"}]}`},
		{"reasoning field", llm.Request{Model: "m", Origin: "x", ReasoningField: "reasoning_content", System: []string{"a", "b"}, Messages: history},
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"a\n\nb"},{"role":"user","content":"hi"},{"role":"assistant","content":"ok","reasoning_content":"hm","tool_calls":[{"id":"call_1.2","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"call_1.2","content":"out"},{"role":"user","content":[{"type":"text","text":"Attached media from tool result:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]},{"role":"user","content":"go on"}]}`},
		{"reasoning of this model goes back", llm.Request{Model: "m", Origin: "p/m", ReasoningField: "reasoning_content", ReasoningOptional: true, Messages: []llm.Message{
			{Role: llm.RoleAssistant, Content: []llm.Content{llm.Reasoning{Text: "hm", Origin: "p/m"}, llm.Text{Text: "a"}}},
			{Role: llm.RoleAssistant, Content: []llm.Content{llm.Reasoning{Text: "hm", Origin: "other"}, llm.Text{Text: "b"}}},
			{Role: llm.RoleAssistant, Content: []llm.Content{llm.Text{Text: "c"}}}}},
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"assistant","content":"a","reasoning_content":"hm"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"}]}`},
		{"details to their origin", llm.Request{Model: "claude-x", Origin: "p/m", CacheMarks: true, System: []string{"a"}, Messages: history[:2]},
			`{"model":"claude-x","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"ok"}],"reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s"}],"tool_calls":[{"id":"call_1_2","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}}]}]}`},
		{"mistral", llm.Request{Model: "Devstral-2", Messages: history},
			`{"model":"Devstral-2","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ok","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s"}],"tool_calls":[{"id":"call12000","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"call12000","content":"out"},{"role":"assistant","content":"Done."},{"role":"user","content":[{"type":"text","text":"Attached media from tool result:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]},{"role":"user","content":"go on"}]}`},
	}
	tests[len(tests)-1].req.Origin = "p/m"
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, body(t, &tt.req)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzStream(f *testing.F) {
	for _, s := range []llmtest.Step{
		{Blocks: []llmtest.Block{llmtest.Reasoning{Text: "hm"}, llmtest.Text("a b ü"), llmtest.Call{Name: "x", Args: `{"a":1}`}, llmtest.Call{Name: "y"}}},
		{Broken: "no"}, {Whole: true, Blocks: []llmtest.Block{llmtest.Text("a"), llmtest.Call{Name: "x", Args: "{}"}}},
	} {
		wire, err := llmtest.Transcript("openaichat", s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire, 7)
	}
	f.Add([]byte(stream(`{"choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"a","arguments":{}}},{"function":{"arguments":"}"}}],"reasoning_details":[{"type":"x","index":1}]}}]}`, `[DONE]`)), 1)
	f.Fuzz(func(t *testing.T, wire []byte, split int) {
		_, err := llmtest.Fold(openaichat.New(llmtest.Fixed{Body: wire, Split: max(1, split%64)}.Endpoint()).Stream(t.Context(), &llm.Request{}), "")
		if _, ok := errors.AsType[*llm.Error](err); err != nil && !ok {
			t.Error(err)
		}
	})
}
