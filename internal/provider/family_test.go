package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/catalog"
	"lathe/internal/llm"
)

func reasoner(provider, npm, id string, p Protocol) *Model {
	m := &Model{APIID: id, NPM: npm, Protocol: p, Caps: Caps{Reasoning: true, Temperature: true, ToolCall: true}, Limit: catalog.Limit{Output: 64000}}
	m.Ref.Provider, m.Ref.Model = provider, id
	return m
}

func TestSampling(t *testing.T) {
	type want struct{ temperature, topP, topK any }
	set := Params{Temperature: new(0.3), TopP: new(0.5)}
	for _, row := range []struct {
		m    *Model
		p    Params
		want want
	}{
		{reasoner("openai", npmOpenAI, "o3", ProtocolOpenAI), set, want{}},
		{reasoner("openai", npmOpenAI, "gpt-5", ProtocolOpenAI), set, want{}},
		{reasoner("azure", npmAzure, "gpt-5-mini", ProtocolOpenAIChat), set, want{}},
		{reasoner("openai", npmOpenAI, "gpt-5-chat-latest", ProtocolOpenAI), set, want{0.3, 0.5, nil}},
		{reasoner("copilot", npmCopilot, "claude-sonnet-4.5", ProtocolOpenAIChat), set, want{0.3, nil, nil}},
		{reasoner("xai", npmXAI, "grok-4", ProtocolOpenAI), set, want{0.3, 0.5, nil}},
		{reasoner("openai", npmOpenAI, "gpt-5.4", ProtocolOpenAI), Params{Temperature: new(0.3), Options: object{"reasoningEffort": "none"}}, want{0.3, nil, nil}},
		{reasoner("anthropic", npmAnthropic, "claude-opus-4-5", ProtocolAnthropic), set, want{0.3, nil, nil}},
		{reasoner("anthropic", npmAnthropic, "claude-opus-4-5", ProtocolAnthropic), Params{TopP: new(0.5)}, want{nil, 0.5, nil}},
		{reasoner("google", npmGoogle, "gemini-3-pro", ProtocolGoogle), Params{}, want{1.0, 0.95, 64}},
		{reasoner("x", npmCompatible, "glm-4.7", ProtocolOpenAIChat), Params{}, want{1.0, nil, nil}},
		{reasoner("x", npmCompatible, "minimax-m2", ProtocolOpenAIChat), Params{}, want{1.0, 0.95, 20}},
		{reasoner("x", npmCompatible, "minimax-m2.5", ProtocolOpenAIChat), Params{}, want{1.0, 0.95, 40}},
		{reasoner("x", npmCompatible, "kimi-k2", ProtocolOpenAIChat), Params{}, want{0.6, nil, nil}},
		{reasoner("x", npmCompatible, "kimi-k2-thinking", ProtocolOpenAIChat), Params{}, want{1.0, nil, nil}},
		{reasoner("x", npmCompatible, "kimi-k2.5", ProtocolOpenAIChat), Params{}, want{1.0, 0.95, nil}},
		{reasoner("x", npmCompatible, "deepseek-v4-flash", ProtocolOpenAIChat), Params{}, want{nil, 0.95, nil}},
		{reasoner("x", npmCompatible, "qwen3-coder", ProtocolOpenAIChat), Params{}, want{}},
	} {
		var req llm.Request
		row.m.Prepare(&req, row.p)
		got := want{}
		if req.Temperature != nil {
			got.temperature = *req.Temperature
		}
		if req.TopP != nil {
			got.topP = *req.TopP
		}
		if req.TopK != nil {
			got.topK = *req.TopK
		}
		if got != row.want {
			t.Errorf("%s: %v, want %v", row.m.Ref, got, row.want)
		}
	}
}

func TestOptionRows(t *testing.T) {
	key := Params{SessionID: "s"}
	small := Params{SessionID: "s", Small: true}
	for _, row := range []struct {
		m    *Model
		p    Params
		want map[string]any
	}{
		{reasoner("xai", npmXAI, "grok-4", ProtocolOpenAI), key, object{"store": false}},
		{reasoner("openrouter", npmOpenRouter, "google/gemini-3-pro", ProtocolOpenAIChat), key, object{"usage": object{"include": true}, "reasoning": object{"effort": "high"}}},
		{reasoner("baseten", npmCompatible, "x", ProtocolOpenAIChat), key, object{"chat_template_args": object{"enable_thinking": true}}},
		{reasoner("zai-coding-plan", npmCompatible, "glm-4.6", ProtocolOpenAIChat), key, object{"thinking": object{"type": "enabled", "clear_thinking": false}}},
		{reasoner("zai", npmCompatible, "glm-4.6", ProtocolOpenAIChat), small, nil},
		{reasoner("google", npmGoogle, "gemini-3-pro", ProtocolGoogle), key, object{"thinkingConfig": object{"includeThoughts": true, "thinkingLevel": "high"}}},
		{reasoner("google", npmGoogle, "gemini-3-pro", ProtocolGoogle), small, object{"thinkingConfig": object{"thinkingLevel": "low"}}},
		{reasoner("google", npmGoogle, "gemini-3-flash", ProtocolGoogle), small, object{"thinkingConfig": object{"thinkingLevel": "minimal"}}},
		{reasoner("google", npmGoogle, "gemini-2.5-flash", ProtocolGoogle), small, object{"thinkingConfig": object{"thinkingBudget": 0}}},
		{reasoner("openai", npmOpenAI, "gpt-5-pro", ProtocolOpenAI), key, object{"store": false, "reasoningSummary": "auto", "include": encrypted}},
		{reasoner("azure", npmAzure, "gpt-5.1", ProtocolOpenAI), key, object{"store": false, "reasoningEffort": "medium", "reasoningSummary": "auto", "include": encrypted}},
		{reasoner("venice", npmVenice, "x", ProtocolOpenAIChat), small, object{"promptCacheKey": "s", "disableThinking": true}},
		{reasoner("deepinfra", npmCompatible, "x", ProtocolOpenAIChat), key, object{"prompt_cache_key": "s"}},
		{reasoner("gateway", npmGateway, "x", ProtocolOpenAIChat), key, object{"caching": "auto"}},
		{reasoner("minimax", npmAnthropic, "minimax-m3", ProtocolAnthropic), key, object{"thinking": object{"type": "adaptive"}, "toolStreaming": false}},
		{reasoner("kimi", npmAnthropic, "kimi-k3", ProtocolAnthropic), key, object{"thinking": object{"type": "adaptive"}, "effort": "high", "toolStreaming": false}},
		{reasoner("google-vertex-anthropic", npmVertexAnth, "claude-opus-4-5", ProtocolAnthropic), key, object{"toolStreaming": false}},
		{reasoner("anthropic", npmAnthropic, "claude-opus-4-5", ProtocolAnthropic), key, nil},
		{reasoner("alibaba-cn", npmCompatible, "qwen3-max", ProtocolOpenAIChat), key, object{"enable_thinking": true}},
	} {
		if diff := cmp.Diff(row.want, row.m.options(row.p)); diff != "" {
			t.Errorf("%s, small %t (-want +got):\n%s", row.m.Ref, row.p.Small, diff)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, row := range []struct {
		m        *Model
		released string
		want     string
	}{
		{reasoner("openai", npmOpenAI, "gpt-5", ProtocolOpenAI), "2025-08-07", "minimal low medium high"},
		{reasoner("openai", npmOpenAI, "gpt-5.1", ProtocolOpenAI), "", "none low medium high"},
		{reasoner("openai", npmOpenAI, "gpt-5.4", ProtocolOpenAI), "", "none low medium high xhigh"},
		{reasoner("openai", npmOpenAI, "gpt-5.2-codex", ProtocolOpenAI), "", "low medium high xhigh"},
		{reasoner("openai", npmOpenAI, "gpt-5-codex", ProtocolOpenAI), "", "low medium high"},
		{reasoner("openai", npmOpenAI, "gpt-5-pro", ProtocolOpenAI), "", ""},
		{reasoner("openai", npmOpenAI, "gpt-5.2-pro", ProtocolOpenAI), "", "medium high xhigh"},
		{reasoner("openai", npmOpenAI, "o3", ProtocolOpenAI), "", "low medium high"},
		{reasoner("xai", npmXAI, "grok-4", ProtocolOpenAI), "", ""},
		{reasoner("xai", npmXAI, "grok-3-mini", ProtocolOpenAIChat), "", "low high"},
		{reasoner("openrouter", npmOpenRouter, "openai/gpt-5", ProtocolOpenAIChat), "", "none minimal low medium high xhigh"},
		{reasoner("openrouter", npmOpenRouter, "anthropic/x", ProtocolOpenAIChat), "", ""},
		{reasoner("groq", npmGroq, "x", ProtocolOpenAIChat), "", "none low medium high"},
		{reasoner("mistral", npmMistral, "x", ProtocolOpenAIChat), "", ""},
		{reasoner("anthropic", npmAnthropic, "claude-opus-4-7", ProtocolAnthropic), "", "low medium high xhigh max"},
		{reasoner("anthropic", npmAnthropic, "claude-sonnet-4-6", ProtocolAnthropic), "", "low medium high max"},
		{reasoner("anthropic", npmAnthropic, "claude-sonnet-4-5", ProtocolAnthropic), "", "high max"},
		{reasoner("google", npmGoogle, "gemini-2.5-pro", ProtocolGoogle), "", "high max"},
		{reasoner("google", npmGoogle, "gemini-3-pro", ProtocolGoogle), "", "low high"},
		{reasoner("google", npmGoogle, "gemini-3-flash", ProtocolGoogle), "", "minimal low medium high"},
		{reasoner("cerebras", npmCompatible, "gpt-oss", ProtocolOpenAIChat), "", "low medium high"},
	} {
		row.m.Released = row.released
		var names []string
		for _, v := range variants(row.m, nil) {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, " "); got != row.want {
			t.Errorf("%s: levels %q, want %q", row.m.Ref, got, row.want)
		}
	}
}

// TestPlaceholderTool holds that a history with calls is never sent without
// tools to providers that refuse that.
func TestPlaceholderTool(t *testing.T) {
	calls := []llm.Message{{Role: llm.RoleAssistant, Content: []llm.Content{llm.ToolUse{ID: "1", Name: "read"}}}}
	words := []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "x"}}}}
	own := []llm.Tool{{Name: "read"}}
	proxied := reasoner("mine", npmCompatible, "x", ProtocolOpenAIChat)
	proxied.proxied = true
	for _, row := range []struct {
		name     string
		m        *Model
		messages []llm.Message
		tools    []llm.Tool
		want     string
	}{
		{"litellm", reasoner("litellm-eu", npmCompatible, "x", ProtocolOpenAIChat), calls, nil, "_noop"},
		{"copilot", reasoner("github-copilot", npmCopilot, "gpt-4o", ProtocolOpenAIChat), calls, nil, "_noop"},
		{"a proxy by option", proxied, calls, nil, "_noop"},
		{"no calls", proxied, words, nil, ""},
		{"own tools", proxied, calls, own, "read"},
		{"others", reasoner("openai", npmOpenAI, "gpt-5", ProtocolOpenAI), calls, nil, ""},
	} {
		req := llm.Request{Messages: row.messages, Tools: row.tools}
		row.m.Prepare(&req, Params{})
		got := ""
		for _, tool := range req.Tools {
			got += tool.Name
		}
		if got != row.want {
			t.Errorf("%s: tools %q, want %q", row.name, got, row.want)
		}
	}
}

func TestReasoningGoesBack(t *testing.T) {
	type want struct {
		field    string
		optional bool
	}
	for _, tt := range []struct {
		npm, id, interleaved string
		protocol             Protocol
		want                 want
	}{
		{npmCompatible, "zai-org/GLM-4.7", "", ProtocolOpenAIChat, want{"reasoning_content", true}},
		{npmCompatible, "kimi-k2-thinking", "true", ProtocolOpenAIChat, want{"reasoning_content", true}},
		{npmCompatible, "deepseek-v3.2", "", ProtocolOpenAIChat, want{"reasoning_content", true}},
		{npmAlibaba, "qwen3-max", "", ProtocolOpenAIChat, want{"reasoning_content", true}},
		{npmCompatible, "kimi-k2.5", "reasoning", ProtocolOpenAIChat, want{"reasoning", false}},
		{npmCompatible, "deepseek-r1", "", ProtocolOpenAIChat, want{}},
		{npmCompatible, "gpt-oss-120b", "", ProtocolOpenAIChat, want{}},
		{npmGroq, "qwen3-32b", "", ProtocolOpenAIChat, want{}},
		{npmOpenRouter, "z-ai/glm-4.7", "reasoning_details", ProtocolOpenAIChat, want{}},
		{npmAnthropic, "kimi-k2", "", ProtocolAnthropic, want{}},
	} {
		m := &Model{APIID: tt.id, NPM: tt.npm, Protocol: tt.protocol, Caps: Caps{Interleaved: tt.interleaved}}
		var req llm.Request
		m.Prepare(&req, Params{})
		if got := (want{req.ReasoningField, req.ReasoningOptional}); got != tt.want {
			t.Errorf("%s of %s: %+v, want %+v", tt.id, tt.npm, got, tt.want)
		}
	}
}
