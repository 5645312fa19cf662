package openai_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/llmtest"
	"lathe/internal/llm/openai"
)

func answer(t *testing.T, wire string) (llmtest.Outcome, error) {
	t.Helper()
	return llmtest.Fold(openai.New(llmtest.Fixed{Body: []byte(wire), Split: 5}.Endpoint()).Stream(t.Context(), &llm.Request{}), "")
}

func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("event: x\ndata: " + e + "\n\n")
	}
	return b.String()
}

func TestStream(t *testing.T) {
	end := `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":20},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":3}}}}`
	usage := llm.Usage{CacheRead: 10, Output: 2, Reasoning: 3, Reported: true}
	tests := []struct {
		name, wire string
		want       llmtest.Outcome
	}{
		{"reasoning in two parts", stream(`{"type":"response.created","response":{}}`, `{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","encrypted_content":"early"}}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"a"}`, `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"b"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","encrypted_content":"enc","summary":[]}}`, end, `[DONE]`),
			llmtest.Outcome{Content: []llm.Content{llm.Reasoning{Text: "a\n\nb", Meta: map[string]json.RawMessage{"openai": json.RawMessage(`{"itemId":"rs","reasoningEncryptedContent":"enc"}`)}}},
				Finish: llm.Finish{Reason: llm.FinishStop, Raw: "completed", Usage: usage}}},
		{"call delivered whole", stream(`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"n","arguments":"{\"x\":1}"}}`, end),
			llmtest.Outcome{Content: []llm.Content{llm.ToolUse{ID: "c", Name: "n", Input: json.RawMessage(`{"x":1}`)}}, Finish: llm.Finish{Reason: llm.FinishToolCalls, Raw: "completed", Usage: usage}}},
		{"only the last event", stream(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"b"}]}]}}`),
			llmtest.Outcome{Content: []llm.Content{llm.Text{Text: "ab"}}, Finish: llm.Finish{Reason: llm.FinishLength, Raw: "max_output_tokens"}}},
		{"starts left out", stream(`{"type":"response.output_text.delta","output_index":2,"delta":"a"}`, `{"type":"response.reasoning_text.delta","output_index":1,"delta":"h"}`, `{"type":"response.output_text.done","output_index":2,"text":"a"}`, end),
			llmtest.Outcome{Content: []llm.Content{llm.Text{Text: "a"}, llm.Reasoning{Text: "h"}}, Finish: llm.Finish{Reason: llm.FinishStop, Raw: "completed", Usage: usage}}},
		{"unknown items and events", stream(`{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"w"}}`, `{"type":"response.web_search_call.searching","delta":{"x":1}}`, `{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call"}}`, end),
			llmtest.Outcome{Finish: llm.Finish{Reason: llm.FinishStop, Raw: "completed", Usage: usage}}},
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
		{"error event", stream(`{"type":"error","code":"server_is_overloaded","message":"busy"}`), llm.KindServer, true},
		{"failed", stream(`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"slow"}}}`), llm.KindRateLimit, true},
		{"too long", stream(`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"x"}}}`), llm.KindOverflow, false},
		{"quota", stream(`{"type":"error","error":{"type":"insufficient_quota","message":"x"}}`), llm.KindQuota, false},
		{"prompt", stream(`{"type":"error","code":"invalid_prompt","message":"x"}`), llm.KindInvalid, false},
		{"no last event", stream(`{"type":"response.output_text.delta","output_index":0,"delta":"a"}`, `[DONE]`), llm.KindCut, true},
		{"arguments of nothing", stream(`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"a"}`), llm.KindProtocol, true},
	} {
		_, err := answer(t, tt.wire)
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Kind != tt.kind || e.Retryable != tt.retryable {
			t.Errorf("%s: error %#v, want %s, retryable %v", tt.name, err, tt.kind, tt.retryable)
		}
	}
}

func TestRequest(t *testing.T) {
	enc := func(id, content string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"openai": json.RawMessage(`{"itemId":"` + id + `","reasoningEncryptedContent":"` + content + `"}`)}
	}
	req := &llm.Request{
		Model: "gpt-5", System: []string{"sys"}, MaxTokens: 100, Origin: "o/gpt-5", CacheKey: "key", Choice: llm.ChoiceAuto,
		Tools:   []llm.Tool{{Name: "read", Description: "d"}},
		Options: map[string]any{"reasoningEffort": "high", "reasoningSummary": "auto", "textVerbosity": "low", "parallelToolCalls": true, "serviceTier": "flex", "metadata": map[string]any{"a": "b"}},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "hi"}, llm.Media{MIME: "image/png", URL: "https://x/y.png"}, llm.Media{MIME: "application/pdf", Data: []byte("x")}}},
			{Role: llm.RoleAssistant, Content: []llm.Content{
				llm.Reasoning{Text: "a", Meta: enc("rs", ""), Origin: "o/gpt-5"}, llm.Reasoning{Text: "b", Meta: enc("rs", "E"), Origin: "o/gpt-5"},
				llm.Reasoning{Text: "other", Meta: enc("rt", "F"), Origin: "o/gpt-4"}, llm.Text{Text: "ok"},
				llm.ToolUse{ID: "c1", Name: "read", Input: json.RawMessage(`{}`)}, llm.Reasoning{Text: "last", Meta: enc("ru", "G"), Origin: "o/gpt-5"}}},
			{Role: llm.RoleTool, Content: []llm.Content{llm.ToolResult{ID: "c1", Output: "out", Media: []llm.Media{{MIME: "image/png", Data: []byte("x")}}}}},
		},
	}
	srv := llmtest.New(t, nil, llmtest.Lenient())
	client := adapter.NewClient()
	defer client.CloseIdleConnections()
	for range openai.New(adapter.Endpoint{BaseURL: srv.URL, Key: "k-secret", Client: client}).Stream(t.Context(), req) {
	}
	got := srv.Requests()[0]
	want := `{"model":"gpt-5","stream":true,"include":["reasoning.encrypted_content"],"max_output_tokens":100,"metadata":{"a":"b"},"parallel_tool_calls":true,"prompt_cache_key":"key","reasoning":{"effort":"high","summary":"auto"},"service_tier":"flex","store":false,"text":{"verbosity":"low"},"tool_choice":"auto",` +
		`"tools":[{"type":"function","name":"read","description":"d","parameters":{"type":"object","properties":{}},"strict":false}],` +
		`"input":[{"role":"developer","content":"sys"},{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","detail":"auto","image_url":"https://x/y.png"},{"type":"input_file","filename":"file.pdf","file_data":"data:application/pdf;base64,eA=="}]},` +
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"E"},{"role":"assistant","content":"ok"},{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"out"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,eA=="}]}]}`
	if diff := cmp.Diff(want, string(got.Body)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if got.Header.Get("Authorization") != "Bearer k-secret" {
		t.Errorf("headers %v", got.Header)
	}
}

func FuzzStream(f *testing.F) {
	for _, s := range []llmtest.Step{
		{Blocks: []llmtest.Block{llmtest.Reasoning{Text: "hm"}, llmtest.Text("a b ü"), llmtest.Call{Name: "x", Args: `{"a":1}`}}},
		{Broken: "no"}, {Whole: true, Blocks: []llmtest.Block{llmtest.Text("a"), llmtest.Call{Name: "x", Args: "{}"}}},
	} {
		wire, err := llmtest.Transcript("openai", s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire, 7)
	}
	f.Fuzz(func(t *testing.T, wire []byte, split int) {
		_, err := llmtest.Fold(openai.New(llmtest.Fixed{Body: wire, Split: max(1, split%64)}.Endpoint()).Stream(t.Context(), &llm.Request{}), "")
		if _, ok := errors.AsType[*llm.Error](err); err != nil && !ok {
			t.Error(err)
		}
	})
}
