package google_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/google"
	"lathe/internal/llm/llmtest"
)

func answer(t *testing.T, wire string) (llmtest.Outcome, error) {
	t.Helper()
	return llmtest.Fold(google.New(llmtest.Fixed{Body: []byte(wire), Split: 5}.Endpoint()).Stream(t.Context(), &llm.Request{Model: "m"}), "")
}

func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\r\n\r\n")
	}
	return b.String()
}

func TestStream(t *testing.T) {
	sig := map[string]json.RawMessage{"google": json.RawMessage(`{"thoughtSignature":"S"}`)}
	usage := llm.Usage{Input: 6, CacheRead: 4, Output: 5, Reasoning: 2, Reported: true}
	tests := []struct {
		name, wire string
		want       llmtest.Outcome
	}{
		{"thought, text, calls", stream(`{"candidates":[{"content":{"parts":[{"text":"h","thought":true},{"text":"m","thought":true,"thoughtSignature":"S"},{"text":"a"}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"b"}]}}]}`, `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"n","args":{"x":1}},"thoughtSignature":"S"},{"functionCall":{"name":"n"}}]},"finishReason":"STOP"}]}`,
			`{"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":5,"thoughtsTokenCount":2}}`),
			llmtest.Outcome{Content: []llm.Content{llm.Reasoning{Text: "hm", Meta: sig}, llm.Text{Text: "ab"}, llm.ToolUse{Name: "n", Input: json.RawMessage(`{"x":1}`), Meta: sig}, llm.ToolUse{Name: "n", Input: json.RawMessage(`{}`)}},
				Finish: llm.Finish{Reason: llm.FinishToolCalls, Raw: "STOP", Usage: usage}}},
		{"list of chunks", `[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},` + "\n" + `{"candidates":[{"finishReason":"MAX_TOKENS"}]}]`,
			llmtest.Outcome{Content: []llm.Content{llm.Text{Text: "a"}}, Finish: llm.Finish{Reason: llm.FinishLength, Raw: "MAX_TOKENS"}}},
		{"filtered", stream(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"SAFETY"}]}`),
			llmtest.Outcome{Content: []llm.Content{llm.Text{Text: "a"}}, Finish: llm.Finish{Reason: llm.FinishFilter, Raw: "SAFETY"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := answer(t, tt.wire)
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(llm.ToolUse{}, "ID")); err != nil || diff != "" {
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
		{"blocked prompt", stream(`{"promptFeedback":{"blockReason":"SAFETY"}}`), llm.KindFilter, false},
		{"malformed call", stream(`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`), llm.KindProtocol, true},
		{"error chunk", stream(`{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}`), llm.KindServer, true},
		{"error in a list", `[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]`, llm.KindInvalid, false},
		{"no finish reason", stream(`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`), llm.KindCut, true},
	} {
		_, err := answer(t, tt.wire)
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Kind != tt.kind || e.Retryable != tt.retryable {
			t.Errorf("%s: error %#v, want %s, retryable %v", tt.name, err, tt.kind, tt.retryable)
		}
	}
}

func request(model string) *llm.Request {
	half := 0.5
	return &llm.Request{
		Model: model, System: []string{"sys"}, MaxTokens: 100, Temperature: &half, Origin: "g/" + model, Choice: llm.ChoiceAuto,
		Tools:   []llm.Tool{{Name: "read", Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{"p":{"type":"string"}}}`)}, {Name: "list", Description: "l", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}},
		Options: map[string]any{"thinkingConfig": map[string]any{"includeThoughts": true}, "labels": map[string]any{"a": "b"}},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "hi"}}},
			{Role: llm.RoleAssistant, Content: []llm.Content{llm.Reasoning{Text: "other", Origin: "x"}, llm.ToolUse{ID: "1", Name: "read", Input: json.RawMessage(`{"p":"a"}`), Origin: "x"}, llm.ToolUse{ID: "2", Name: "list", Origin: "x"}}},
			{Role: llm.RoleTool, Content: []llm.Content{llm.ToolResult{ID: "1", Output: "out", Media: []llm.Media{{MIME: "image/png", Data: []byte("x")}}}, llm.ToolResult{ID: "2", Output: "no", Failed: true}}},
			{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "and?"}}},
		},
	}
}

func TestRequest(t *testing.T) {
	head := `{"generationConfig":{"maxOutputTokens":100,"temperature":0.5,"thinkingConfig":{"includeThoughts":true}},"labels":{"a":"b"},"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},` +
		`"tools":[{"functionDeclarations":[{"name":"read","description":"d","parameters":{"type":"object","properties":{"p":{"type":"string"}}}},{"name":"list","description":"l"}]}],"systemInstruction":{"parts":[{"text":"sys"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]},`
	for model, want := range map[string]string{
		"gemini-2.5-pro": `{"role":"model","parts":[{"functionCall":{"name":"read","args":{"p":"a"}}},{"functionCall":{"name":"list","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"out"}}},{"functionResponse":{"name":"list","response":{"error":"no"}}}]},{"role":"user","parts":[{"text":"Attached media from tool result:"},{"inlineData":{"mimeType":"image/png","data":"eA=="}}]},{"role":"user","parts":[{"text":"and?"}]}]}`,
		"gemini-3-pro":   `{"role":"model","parts":[{"functionCall":{"name":"read","args":{"p":"a"}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"list","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"out"},"parts":[{"inlineData":{"mimeType":"image/png","data":"eA=="}}]}},{"functionResponse":{"name":"list","response":{"error":"no"}}}]},{"role":"user","parts":[{"text":"and?"}]}]}`,
	} {
		srv := llmtest.New(t, llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("ok")}}})
		client := adapter.NewClient()
		defer client.CloseIdleConnections()
		for _, err := range google.New(adapter.Endpoint{BaseURL: srv.URL + "/v1beta", Key: "k-secret", Client: client}).Stream(t.Context(), request(model)) {
			if err != nil {
				t.Error(err)
			}
		}
		got := srv.Requests()[0]
		if diff := cmp.Diff(head+want, string(got.Body)); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
		if got.Header.Get("X-Goog-Api-Key") != "k-secret" || got.Path != "/v1beta/models/"+model+":streamGenerateContent" {
			t.Errorf("path %q, headers %v", got.Path, got.Header)
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, s := range []llmtest.Step{
		{Blocks: []llmtest.Block{llmtest.Reasoning{Text: "hm"}, llmtest.Text("a b ü"), llmtest.Call{Name: "x", Args: `{"a":1}`}}},
		{Broken: "no"}, {Whole: true, Blocks: []llmtest.Block{llmtest.Text("a"), llmtest.Call{Name: "x", Args: "{}"}}},
	} {
		wire, err := llmtest.Transcript("google", s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire, 7)
	}
	f.Fuzz(func(t *testing.T, wire []byte, split int) {
		_, err := llmtest.Fold(google.New(llmtest.Fixed{Body: wire, Split: max(1, split%64)}.Endpoint()).Stream(t.Context(), &llm.Request{Model: "m"}), "")
		if _, ok := errors.AsType[*llm.Error](err); err != nil && !ok {
			t.Error(err)
		}
	})
}
