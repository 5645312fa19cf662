package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/anthropic"
	"lathe/internal/llm/google"
	"lathe/internal/llm/llmtest"
	"lathe/internal/llm/openai"
	"lathe/internal/llm/openaichat"
	"lathe/internal/provider"
)

// captured answers nothing and keeps what it was sent.
type captured struct{ body []byte }

func (c *captured) RoundTrip(r *http.Request) (*http.Response, error) {
	c.body, _ = io.ReadAll(r.Body)
	return &http.Response{StatusCode: http.StatusTeapot, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil)), Request: r}, nil
}

// bodyOf returns what a model of a protocol is sent for a request.
func bodyOf(t *testing.T, protocol provider.Protocol, req *llm.Request) []byte {
	t.Helper()
	into := &captured{}
	e := adapter.Endpoint{BaseURL: "http://x/v1", Client: &http.Client{Transport: into}}
	m := map[provider.Protocol]func(adapter.Endpoint) llm.Model{provider.ProtocolAnthropic: anthropic.New, provider.ProtocolOpenAI: openai.New,
		provider.ProtocolOpenAIChat: openaichat.New, provider.ProtocolGoogle: google.New}[protocol](e)
	for range m.Stream(t.Context(), req) {
	}
	if into.body == nil {
		t.Fatalf("%s: nothing is sent", req.Model)
	}
	return into.body
}

// foreign are schemas as servers of others have them.
var foreign = map[string]string{
	"references":   `{"type":"object","properties":{"node":{"$ref":"#/$defs/Node"},"list":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"$defs":{"Node":{"type":"object","properties":{"value":{"type":"string"},"next":{"$ref":"#/$defs/Node"}},"required":["value"]}},"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}`,
	"alternatives": `{"type":"object","properties":{"a":{"anyOf":[{"type":"string","format":"uri"},{"type":"null"}]},"b":{"oneOf":[{"const":"x"},{"const":3}]},"c":{"allOf":[{"type":"object","properties":{"d":{"type":"integer","exclusiveMinimum":0}}}]}}}`,
	"at the root":  `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}}}]}`,
	"values":       `{"type":"object","properties":{"a":{"enum":["x",null,"",1]},"b":{"type":["integer","null"],"default":3},"c":{"const":true},"d":true,"e":{},"f":{"type":"array"},"g":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]},"h":{"type":"object","additionalProperties":{"type":"string"}}}}`,
	"formats":      `{"type":"object","properties":{"a":{"type":"string","format":"date-time"},"b":{"type":"string","format":"uuid","pattern":"^[a-f]+$","minLength":1},"c":{"type":"integer","format":"int64","multipleOf":2},"d":{"type":"number","minimum":0.5,"maximum":1e9}}}`,
	"names":        `{"type":"object","properties":{"$filter":{"type":"string"},"a/b":{"type":"string"},"ok":{"type":"string"}},"required":["$filter","ok"]}`,
	"empty":        `{"type":"object","properties":{}}`,
	"nothing":      `{}`,
	"many":         many(200),
	"deep":         deep(40),
}

func many(n int) string {
	props := make([]string, n)
	for i := range props {
		props[i] = fmt.Sprintf(`"p%d":{"type":"string","description":"property %d","format":"hostname"}`, i, i)
	}
	return `{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":["p0","p199"]}`
}

func deep(n int) string {
	return strings.Repeat(`{"type":"object","additionalProperties":false,"properties":{"in":`, n) + `{"type":"string"}` + strings.Repeat(`}}`, n)
}

func models(t *testing.T) []*provider.Model {
	t.Helper()
	r, err := provider.New(provider.Options{Local: []provider.LocalServer{}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.All()
	if err != nil {
		t.Fatal(err)
	}
	var list []*provider.Model
	for _, p := range all {
		list = append(list, p.Models...)
	}
	return list
}

// own reports whether a model is served by the vendor whose protocol it speaks.
func own(m *provider.Model) bool {
	return m.Ref.Provider == "anthropic" || m.Ref.Provider == "openai" || m.Ref.Provider == "google"
}

// foreignSchemas offers tools of others to one model of every way to clean schemas.
func (c *contract) foreignSchemas(t *testing.T) {
	done := map[string]bool{}
	for _, m := range models(t) {
		family := fmt.Sprint(m.Protocol, m.NPM, strings.Contains(m.APIID, "gemini"), strings.Contains(m.APIID, "kimi"))
		if done[family] {
			continue
		}
		done[family] = true
		req := &llm.Request{Choice: llm.ChoiceAuto, Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "hi"}}}}}
		for _, name := range slices.Sorted(maps.Keys(foreign)) {
			clean := m.Schema(json.RawMessage(foreign[name]))
			if err := llmtest.CheckSchema(string(m.Protocol), clean); err != nil {
				t.Errorf("%s, %s: %v\n%s", m.Ref, name, err, clean)
			}
			req.Tools = append(req.Tools, llm.Tool{Name: strings.ReplaceAll(name, " ", "_"), Description: name, Schema: clean})
		}
		m.Prepare(req, provider.Params{})
		c.add(string(m.Protocol), m.Ref.String()+" and tools of others", own(m), bodyOf(t, m.Protocol, req))
	}
}

// odd is a conversation with what histories hold after years: empty pieces, other
// models' reasoning, calls without arguments, media of all kinds.
func odd(m *provider.Model) []llm.Message {
	data := []byte("x")
	text := func(s string) llm.Content { return llm.Text{Text: s} }
	return m.Normalize([]llm.Message{
		{Role: llm.RoleUser, Content: []llm.Content{text(""), text("  \n"), text("hi \xff\u2028"), llm.Media{MIME: "image/png", Data: data}, llm.Media{MIME: "image/svg+xml", Data: data}, llm.Media{MIME: "image/png"},
			llm.Media{MIME: "application/pdf", Name: "a.pdf", Data: data}, llm.Media{MIME: "audio/wav", Data: data}, llm.Media{MIME: "video/mp4", Data: data}, llm.Media{MIME: "text/csv", Data: data}, llm.Media{MIME: "application/zip", Data: data}}},
		{Role: llm.RoleAssistant, Content: []llm.Content{llm.Reasoning{Text: "other", Origin: "else/where"}, llm.Reasoning{Text: "own", Origin: m.Ref.String()}, text("so "),
			llm.ToolUse{ID: "call|1", Name: "read"}, llm.ToolUse{ID: "call|1", Name: "read", Input: json.RawMessage(`{"a":[1,{"b":null}]}`)}}},
		{Role: llm.RoleTool, Content: []llm.Content{llm.ToolResult{ID: "call|1", Name: "read"}, llm.ToolResult{ID: "call|1", Name: "read", Failed: true, Media: []llm.Media{{MIME: "image/png", Data: data}}}}},
		{Role: llm.RoleAssistant, Content: []llm.Content{llm.Reasoning{Text: "only", Origin: m.Ref.String()}}},
		{Role: llm.RoleUser, Content: []llm.Content{text("and?")}},
	})
}

// everyModel asks every model of the catalogue, at every level, for an answer and
// for a title.
func (c *contract) everyModel(t *testing.T) {
	for _, m := range models(t) {
		params := []provider.Params{{}, {Small: true, SessionID: "ses_1"}}
		for _, v := range m.Variants {
			params = append(params, provider.Params{Variant: v.Name})
		}
		for _, p := range params {
			req := &llm.Request{System: []string{"be", "brief"}, Messages: odd(m)}
			if !p.Small {
				req.Choice = llm.ChoiceAuto
				req.Tools = []llm.Tool{{Name: "read", Description: "d", Schema: m.Schema(json.RawMessage(foreign["values"]))}}
			}
			m.Prepare(req, p)
			req.Headers = nil
			c.add(string(m.Protocol), m.Ref.String()+" "+p.Variant, own(m), bodyOf(t, m.Protocol, req))
		}
	}
}
