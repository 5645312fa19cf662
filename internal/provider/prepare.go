package provider

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

// DefaultOutputMax bounds the output of one step unless the model's own limit
// is lower.
const DefaultOutputMax = 32_000

// Params is what a caller of [Model.Prepare] wants in addition to the model's
// own settings.
type Params struct {
	// Temperature, TopP and Options are the agent's.
	Temperature *float64
	TopP        *float64
	Options     map[string]any

	Variant string // ignored where the model has no such variant
	Small   bool   // a title or another small request: little reasoning, no variant

	SessionID lathe.SessionID
	ParentID  lathe.SessionID // of a child session
	ProjectID string
	RequestID string // the user message that is answered
	Client    string // who asks: "cli", "acp" …
}

// Prepare fills in what depends on the model: its name, the output limit,
// sampling, provider options, headers and caching. The request's own System,
// Messages, Tools and Choice stay. The same arguments give the same request.
func (m *Model) Prepare(req *llm.Request, p Params) {
	req.Model = m.APIID
	req.Origin = m.Ref.String()
	req.Options = m.options(p)
	m.sample(req, p)
	req.MaxTokens = m.maxTokens(req.Options)
	req.Headers = m.headers(p)
	req.CacheKey = m.promptCacheKey(p)
	req.CacheMarks = m.marks()
	req.ReasoningField, req.ReasoningOptional = m.reasoningField()
	m.addPlaceholder(req)
}

func (m *Model) sample(req *llm.Request, p Params) {
	req.Temperature, req.TopP, req.TopK = p.Temperature, p.TopP, nil
	for i := range samplings {
		row := &samplings[i]
		if !row.holds(m) {
			continue
		}
		if req.Temperature == nil && row.temperature != 0 {
			req.Temperature = new(row.temperature)
		}
		if req.TopP == nil && row.topP != 0 {
			req.TopP = new(row.topP)
		}
		if row.topK != 0 {
			req.TopK = new(row.topK)
		}
		break
	}
	if !m.Caps.Temperature || p.Small && m.Protocol == ProtocolAnthropic { // whose API deprecates it
		req.Temperature = nil
	}
	if req.Options["reasoningEffort"] != "none" && holdsAny(fixedSampling, m) {
		req.Temperature, req.TopP, req.TopK = nil, nil, nil
	}
	if req.Temperature != nil && holdsAny(oneSampling, m) {
		req.TopP = nil
	}
}

// addPlaceholder offers a tool that does nothing, if a history with calls needs
// a tool and the request has none.
func (m *Model) addPlaceholder(req *llm.Request) {
	if len(req.Tools) > 0 || !m.proxied && !holdsAny(placeholderTool, m) || !slices.ContainsFunc(req.Messages, hasCall) {
		return
	}
	req.Tools = []llm.Tool{{
		Name: "_noop", Description: "Does nothing. Never call it.", Schema: json.RawMessage(`{"type":"object","properties":{}}`),
	}}
	req.Choice = llm.ChoiceNone
}

func hasCall(msg llm.Message) bool {
	return slices.ContainsFunc(msg.Content, func(c llm.Content) bool {
		_, use := c.(llm.ToolUse)
		return use
	})
}

// options merges, lowest first: the family's, the model's, the agent's, the
// variant's.
func (m *Model) options(p Params) map[string]any {
	call := mainCall
	if p.Small {
		call = smallCall
	}
	opts := map[string]any{}
	for i := range optionRows {
		if row := &optionRows[i]; row.when&call != 0 && row.holds(m) {
			mergeOptions(opts, row.set)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(opts)) {
		if opts[name] == sessionKey {
			opts[name] = string(p.SessionID)
		}
	}
	mergeOptions(opts, m.Options)
	mergeOptions(opts, p.Options)
	if p.Small {
		mergeOptions(opts, m.smallVariant())
	} else if set, ok := m.Variant(p.Variant); ok && p.Variant != "" {
		mergeOptions(opts, set)
	}
	if m.Protocol == ProtocolOpenAIChat {
		m.chatOptions(opts)
	}
	if len(opts) == 0 {
		return nil
	}
	return opts
}

func (m *Model) smallVariant() map[string]any {
	if m.Protocol == ProtocolAnthropic || m.Protocol == ProtocolGoogle {
		return nil // the option rows decide
	}
	for _, name := range smallVariants {
		if set, ok := m.Variant(name); ok {
			return set
		}
	}
	return nil
}

// mergeOptions copies src over dst, deeply. dst never shares an object with src.
func mergeOptions(dst, src map[string]any) {
	for k, v := range src {
		if obj, ok := v.(map[string]any); ok {
			old, _ := dst[k].(map[string]any)
			fresh := make(map[string]any, len(old)+len(obj))
			mergeOptions(fresh, old)
			mergeOptions(fresh, obj)
			dst[k] = fresh
			continue
		}
		dst[k] = v
	}
}

// maxTokens leaves room for a thinking budget, which the adapter adds.
func (m *Model) maxTokens(opts map[string]any) int {
	limit := m.outputMax
	if limit <= 0 {
		limit = DefaultOutputMax
	}
	if m.Limit.Output <= 0 {
		return limit
	}
	limit = min(limit, m.Limit.Output)
	thinking, _ := opts["thinking"].(map[string]any)
	if m.Protocol != ProtocolAnthropic || thinking["type"] != "enabled" {
		return limit
	}
	budget, _ := adapter.Number(thinking["budgetTokens"])
	if budget > 0 && budget+limit > m.Limit.Output {
		return max(1, m.Limit.Output-budget)
	}
	return limit
}

func (m *Model) headers(p Params) map[string]string {
	h := map[string]string{}
	put := func(name, val string) {
		if val != "" {
			h[name] = val
		}
	}
	if strings.HasPrefix(m.Ref.Provider, "opencode") {
		put("x-opencode-project", p.ProjectID)
		put("x-opencode-session", string(p.SessionID))
		put("x-opencode-request", p.RequestID)
		put("x-opencode-client", p.Client)
	} else if m.Protocol != ProtocolBuiltin {
		put("User-Agent", "lathe/"+lathe.Version)
		put("x-session-affinity", string(p.SessionID))
		put("x-session-id", string(p.SessionID))
		put("x-parent-session-id", string(p.ParentID))
	}
	maps.Copy(h, m.Headers)
	if len(h) == 0 {
		return nil
	}
	return h
}

var cacheKeyed = []match{
	{providers: []string{"openai"}},
	{npms: []string{npmOpenAI, npmAzure, npmXAI, npmMistral, npmVenice}},
}

func (m *Model) promptCacheKey(p Params) string {
	on := holdsAny(cacheKeyed, m)
	if m.cacheKey != nil {
		on = *m.cacheKey
	}
	if !on {
		return ""
	}
	return string(p.SessionID)
}

var cacheMarked = []match{
	{providers: []string{"anthropic", "google-vertex-anthropic"}},
	{ids: []string{"anthropic", "claude"}},
	{npms: []string{npmAnthropic, npmVertexAnth, npmAlibaba}},
}

func (m *Model) marks() bool {
	if m.NPM == npmGateway {
		return false
	}
	_, own := m.Options["cacheControl"]
	return !own && holdsAny(cacheMarked, m)
}

// reasoningBack are families that think between their calls and build on
// earlier thinking, if no field is configured. Vendors behind other adapters
// refuse a field they do not know, and the first DeepSeek models refuse this
// one.
var reasoningBack = []match{
	{npms: []string{npmCompatible, npmAlibaba}, ids: []string{"glm", "kimi", "deepseek", "qwen", "qwq"}, not: []string{"deepseek-r1"}},
}

// reasoningField returns the field in which reasoning goes back, and whether it
// may be left out.
func (m *Model) reasoningField() (field string, optional bool) {
	switch {
	case m.NPM == npmOpenRouter || m.Protocol != ProtocolOpenAIChat:
		return "", false
	case m.Caps.Interleaved != "" && m.Caps.Interleaved != "true":
		return m.Caps.Interleaved, false
	case holdsAny(reasoningBack, m):
		return "reasoning_content", true
	}
	return "", false
}

func holdsAny(rows []match, m *Model) bool {
	return slices.ContainsFunc(rows, func(r match) bool { return r.holds(m) })
}
