package anthropic_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/anthropic"
	"lathe/internal/llm/llmtest"
)

func answer(t *testing.T, wire string) (llmtest.Outcome, error) {
	t.Helper()
	return llmtest.Fold(anthropic.New(llmtest.Fixed{Body: []byte(wire), Split: 5}.Endpoint()).Stream(t.Context(), &llm.Request{}), "")
}

func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("event: x\ndata: " + e + "\n\n")
	}
	return b.String()
}

const stop = `{"type":"message_stop"}`

func TestStream(t *testing.T) {
	end := `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9,"input_tokens":0}}`
	start := `{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":4,"cache_creation_input_tokens":5,"output_tokens":1}}}`
	usage := llm.Usage{Input: 3, CacheRead: 4, CacheWrite: 5, Output: 9, Reported: true}
	tests := []struct {
		name, wire string
		want       llmtest.Outcome
	}{
		{"thinking", stream(start, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`, `{"type":"ping"}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}`,
			`{"type":"content_block_stop","index":0}`, `{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"zz"}}`, `{"type":"content_block_stop","index":1}`, `{"type":"new_event","x":{}}`, end, stop),
			llmtest.Outcome{Content: []llm.Content{
				llm.Reasoning{Text: "hm", Meta: map[string]json.RawMessage{"anthropic": json.RawMessage(`{"signature":"s1"}`)}},
				llm.Reasoning{Meta: map[string]json.RawMessage{"anthropic": json.RawMessage(`{"redactedData":"zz"}`)}}},
				Finish: llm.Finish{Reason: llm.FinishStop, Raw: "end_turn", Usage: usage}}},
		{"interleaved blocks", stream(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`, `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"n","input":{"whole":1}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b\n"}}`, `{"type":"content_block_stop","index":1}`, `{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, stop),
			llmtest.Outcome{Content: []llm.Content{llm.ToolUse{ID: "t", Name: "n", Input: json.RawMessage(`{"whole":1}`)}, llm.Text{Text: "ab\n"}},
				Finish: llm.Finish{Reason: llm.FinishToolCalls, Raw: "tool_use"}}},
		{"missing start, stop and end", stream(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}}`, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`),
			llmtest.Outcome{Content: []llm.Content{llm.Text{Text: "b"}}, Finish: llm.Finish{Reason: llm.FinishLength, Raw: "max_tokens"}}},
		{"server tools are passed over", stream(`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"x","name":"web","input":{}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, `{"type":"content_block_stop","index":0}`, end, stop),
			llmtest.Outcome{Finish: llm.Finish{Reason: llm.FinishStop, Raw: "end_turn", Usage: llm.Usage{Output: 9, Reported: true}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := answer(t, tt.wire)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("error %v, answer (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name, wire string
		kind       llm.Kind
		retryable  bool
	}{
		{"overloaded", stream(`{"type":"message_start","message":{}}`, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), llm.KindServer, true},
		{"refused", stream(`{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`), llm.KindInvalid, false},
		{"too long", stream(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 3 tokens > 2 maximum"}}`), llm.KindOverflow, false},
		{"arguments of nothing", stream(`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{}"}}`), llm.KindProtocol, true},
		{"broken line", stream(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}`, stop), llm.KindProtocol, true},
		{"end without a reason and nothing after", stream(`{"type":"content_block_start","index":0,"content_block":{"type":"text"}}`), llm.KindCut, true},
	} {
		_, err := answer(t, tt.wire)
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Kind != tt.kind || e.Retryable != tt.retryable {
			t.Errorf("%s: error %#v, want %s, retryable %v", tt.name, err, tt.kind, tt.retryable)
		}
	}
}

func TestRequest(t *testing.T) {
	half := 0.5
	sig := map[string]json.RawMessage{"anthropic": json.RawMessage(`{"signature":"sig"}`)}
	req := &llm.Request{
		Model: "claude-x", System: []string{"one", " ", "two", "three"}, MaxTokens: 32000, Temperature: &half, Origin: "a/claude-x", CacheMarks: true, CacheKey: "k",
		Tools: []llm.Tool{{Name: "read", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}}, Choice: llm.ChoiceRequired,
		Options: map[string]any{"thinking": map[string]any{"type": "enabled", "budgetTokens": 16000}, "metadata": map[string]any{"userId": "u"}, "effort": "high", "unknown": 1, "disableParallelToolUse": true},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "hi"}, llm.Text{Text: "\n"}, llm.Media{MIME: "image/png", Data: []byte("x")}, llm.Media{MIME: "audio/wav", Name: "a.wav", Data: []byte("x")}}},
			{Role: llm.RoleAssistant, Content: []llm.Content{
				llm.Reasoning{Text: "mine", Meta: sig, Origin: "a/claude-x"}, llm.Reasoning{Text: "other's", Meta: sig, Origin: "b/claude-x"}, llm.Reasoning{Text: "unsigned", Origin: "a/claude-x"},
				llm.ToolUse{ID: "a.b", Name: "read", Input: json.RawMessage(`{"p":1}`)}, llm.ToolUse{ID: "a:b", Name: "read", Input: json.RawMessage(`bad`)}}},
			{Role: llm.RoleTool, Content: []llm.Content{llm.ToolResult{ID: "a.b", Output: "out"}, llm.ToolResult{ID: "a:b", Failed: true, Media: []llm.Media{{MIME: "application/pdf", Name: "n", Data: []byte("x")}}}}},
			{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "and?"}}},
			{Role: llm.RoleAssistant, Content: []llm.Content{llm.Reasoning{Text: "only", Meta: sig, Origin: "a/claude-x"}}},
		},
	}
	srv := llmtest.New(t, nil, llmtest.Lenient())
	client := adapter.NewClient()
	defer client.CloseIdleConnections()
	for range anthropic.New(adapter.Endpoint{BaseURL: srv.URL, Key: "k-secret", Client: client}).Stream(t.Context(), req) {
	}
	got := srv.Requests()[0]
	want := `{"model":"claude-x","stream":true,"max_tokens":48000,"metadata":{"user_id":"u"},"output_config":{"effort":"high"},"thinking":{"budget_tokens":16000,"type":"enabled"},"unknown":1,` +
		`"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"tools":[{"name":"read","description":"d","input_schema":{"type":"object"}}],` +
		`"system":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}},{"type":"text","text":"two","cache_control":{"type":"ephemeral"}},{"type":"text","text":"three"}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}},{"type":"text","text":"ERROR: Cannot read \"a.wav\" (audio/wav cannot be sent to this model). Inform the user."}]},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"mine","signature":"sig"},{"type":"tool_use","id":"a_b","name":"read","input":{"p":1}},{"type":"tool_use","id":"a_b_2","name":"read","input":{},"cache_control":{"type":"ephemeral"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a_b","content":"out"},{"type":"tool_result","tool_use_id":"a_b_2","content":[{"type":"text","text":"(no output)"},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"eA=="},"title":"n"}],"is_error":true},{"type":"text","text":"and?","cache_control":{"type":"ephemeral"}}]}]}`
	if diff := cmp.Diff(want, string(got.Body)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if h := got.Header; h.Get("X-Api-Key") != "k-secret" || h.Get("Anthropic-Version") != "2023-06-01" ||
		h.Get("Anthropic-Beta") != "interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14" {
		t.Errorf("headers %v", h)
	}
}

func FuzzStream(f *testing.F) {
	for _, s := range []llmtest.Step{
		{Blocks: []llmtest.Block{llmtest.Reasoning{Text: "hm"}, llmtest.Text("a b ü"), llmtest.Call{Name: "x", Args: `{"a":1}`}}},
		{Broken: "no"}, {Whole: true, Blocks: []llmtest.Block{llmtest.Text("a"), llmtest.Call{Name: "x", Args: "{}"}}},
	} {
		wire, err := llmtest.Transcript("anthropic", s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire, 7)
	}
	f.Fuzz(func(t *testing.T, wire []byte, split int) {
		_, err := llmtest.Fold(anthropic.New(llmtest.Fixed{Body: wire, Split: max(1, split%64)}.Endpoint()).Stream(t.Context(), &llm.Request{}), "")
		if _, ok := errors.AsType[*llm.Error](err); err != nil && !ok {
			t.Error(err)
		}
	})
}
