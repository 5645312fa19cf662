package provider

import (
	"slices"
	"strings"

	"lathe/internal/catalog"
)

// What vendors and model families want in addition to their protocol. These
// tables are data: a new family is a new row, not a branch.

const (
	npmAnthropic  = "@ai-sdk/anthropic"
	npmOpenAI     = "@ai-sdk/openai"
	npmCompatible = "@ai-sdk/openai-compatible"
	npmGoogle     = "@ai-sdk/google"
	npmVertex     = "@ai-sdk/google-vertex"
	npmVertexAnth = "@ai-sdk/google-vertex/anthropic"
	npmAzure      = "@ai-sdk/azure"
	npmCopilot    = "@ai-sdk/github-copilot"
	npmXAI        = "@ai-sdk/xai"
	npmMistral    = "@ai-sdk/mistral"
	npmBedrock    = "@ai-sdk/amazon-bedrock"
	npmOpenRouter = "@openrouter/ai-sdk-provider"
	npmLLMGateway = "@llmgateway/ai-sdk-provider"
	npmGateway    = "@ai-sdk/gateway"
	npmVenice     = "venice-ai-sdk-provider"
	npmAlibaba    = "@ai-sdk/alibaba"
	npmGroq       = "@ai-sdk/groq"
)

// match says which models a row is for. Every list that is not empty must hold:
// the provider id or npm equals one entry; the model's id contains one of ids,
// contains all of all and none of not.
type match struct {
	providers, npms   []string
	ids, all, not     []string
	reasoning, prefix bool // only reasoning models; providers are prefixes
	protocols         []Protocol
	releasedFrom      string
}

func (r match) holds(m *Model) bool {
	id := strings.ToLower(m.APIID + " " + m.Ref.Model)
	contains := func(sub string) bool { return strings.Contains(id, sub) }
	provider := func(p string) bool {
		return p == m.Ref.Provider || r.prefix && strings.HasPrefix(m.Ref.Provider, p)
	}
	return (len(r.providers) == 0 || slices.ContainsFunc(r.providers, provider)) &&
		(len(r.npms) == 0 || slices.Contains(r.npms, m.NPM)) &&
		(len(r.protocols) == 0 || slices.Contains(r.protocols, m.Protocol)) &&
		(len(r.ids) == 0 || slices.ContainsFunc(r.ids, contains)) &&
		!slices.ContainsFunc(r.all, func(s string) bool { return !contains(s) }) &&
		!slices.ContainsFunc(r.not, contains) &&
		(!r.reasoning || m.Caps.Reasoning) &&
		m.Released >= r.releasedFrom
}

// sampling is a family's own temperature, top-p and top-k. The first row that
// holds counts.
type sampling struct {
	match
	temperature, topP float64 // 0: unset
	topK              int
}

var samplings = []sampling{
	{match{ids: []string{"gemini-2.5", "gemini-3-flash", "gemini-3-pro", "gemini-3.1", "gemini-3.5-flash"}}, 1, 0.95, 64},
	{match{ids: []string{"glm-4.6", "glm-4.7"}}, 1, 0, 0},
	{match{ids: []string{"minimax-m2.", "minimax-m21", "minimax-m25"}}, 1, 0.95, 40},
	{match{ids: []string{"minimax-m2"}}, 1, 0.95, 20},
	{match{ids: []string{"kimi-k2.5", "kimi-k2p5", "kimi-k2-5"}}, 1, 0.95, 0},
	{match{ids: []string{"kimi-k2."}}, 1, 0, 0},
	{match{all: []string{"kimi-k2", "thinking"}}, 1, 0, 0},
	{match{ids: []string{"kimi-k2"}}, 0.6, 0, 0},
	{match{ids: []string{"north-mini-code"}}, 1, 0, 0},
	{match{ids: []string{"deepseek-v4-flash"}}, 0, 0.95, 0},
}

// fixedSampling are models that refuse temperature and top-p while they reason:
// OpenAI's own, however they are reached. Their chat variants do not reason.
var fixedSampling = []match{
	{npms: openaiTypes, reasoning: true, not: []string{"-chat", "claude", "gemini", "grok"}},
	{providers: []string{"opencode"}, ids: gpt5, reasoning: true, not: []string{"-chat"}},
}

// oneSampling are models that accept temperature or top-p, but not both.
var oneSampling = []match{{ids: []string{"claude"}}}

// placeholderTool are providers that refuse a history with tool calls when no
// tools are offered, as in a summary.
var placeholderTool = []match{
	{npms: []string{npmCopilot}},
	{providers: []string{"litellm"}, prefix: true},
	{ids: []string{"litellm"}},
}

// sessionKey stands in a row for the session's id.
const sessionKey = "\x00session"

type object = map[string]any

// optionRow adds provider options. All matching rows are merged, later ones
// over earlier ones. With small set it applies only to requests such as titles,
// otherwise only to the main ones; both means either.
type optionRow struct {
	match
	when uint8
	set  object
}

const (
	mainCall  uint8 = 1
	smallCall uint8 = 2
	anyCall         = mainCall | smallCall
)

var (
	encrypted   = []any{"reasoning.encrypted_content"}
	openaiTypes = []string{npmOpenAI, npmAzure, npmCopilot}
	storing     = []string{npmOpenAI, npmAzure, npmCopilot, npmXAI, npmBedrock + "/mantle"}
	routers     = []string{npmOpenRouter, npmLLMGateway}
	gemini3     = []string{"gemini-3", "gemini-4"}
	gpt5        = []string{"gpt-5", "gpt-6"}
)

var optionRows = []optionRow{
	{match{npms: storing}, anyCall, object{"store": false}},
	{match{providers: []string{"openai"}}, anyCall, object{"store": false}},
	{match{npms: routers}, anyCall, object{"usage": object{"include": true}}},
	{match{npms: routers, ids: gemini3}, mainCall, object{"reasoning": object{"effort": "high"}}},
	{match{npms: routers, ids: []string{"google/", "gemini"}}, smallCall, object{"reasoning": object{"enabled": false}}},
	{match{providers: []string{"baseten"}}, anyCall, object{"chat_template_args": object{"enable_thinking": true}}},
	{match{providers: []string{"opencode"}, ids: []string{"kimi-k2-thinking", "glm-4.6"}}, anyCall, object{"chat_template_args": object{"enable_thinking": true}}},
	{match{providers: []string{"zai", "zhipuai"}, prefix: true, npms: []string{npmCompatible}}, mainCall, object{"thinking": object{"type": "enabled", "clear_thinking": false}}},
	{match{npms: []string{npmGoogle, npmVertex}, reasoning: true}, mainCall, object{"thinkingConfig": object{"includeThoughts": true}}},
	{match{npms: []string{npmGoogle, npmVertex}, ids: gemini3, reasoning: true}, mainCall, object{"thinkingConfig": object{"thinkingLevel": "high"}}},
	{match{npms: []string{npmGoogle, npmVertex}, ids: gemini3}, smallCall, object{"thinkingConfig": object{"thinkingLevel": "low"}}},
	{match{npms: []string{npmGoogle, npmVertex}, ids: gemini3, all: []string{"flash"}}, smallCall, object{"thinkingConfig": object{"thinkingLevel": "minimal"}}},
	{match{npms: []string{npmGoogle, npmVertex}, ids: []string{"gemini-2.5-flash"}}, smallCall, object{"thinkingConfig": object{"thinkingBudget": 0}}},
	{match{ids: gpt5, not: []string{"gpt-5-chat", "-chat-latest", "gpt-5-pro", "-codex-spark"}, protocols: []Protocol{ProtocolOpenAI, ProtocolOpenAIChat}, npms: append([]string{npmCompatible}, openaiTypes...), reasoning: true}, mainCall, object{"reasoningEffort": "medium"}},
	{match{ids: gpt5, not: []string{"gpt-5-chat"}, npms: openaiTypes, protocols: []Protocol{ProtocolOpenAI}, reasoning: true}, mainCall, object{"reasoningSummary": "auto", "include": encrypted}},
	{match{ids: []string{"gpt-5.", "gpt-6"}, not: []string{"codex", "-chat"}, npms: []string{npmOpenAI, npmCopilot}}, mainCall, object{"textVerbosity": "low"}},
	{match{providers: []string{"opencode"}, prefix: true, ids: gpt5}, anyCall, object{"promptCacheKey": sessionKey, "include": encrypted, "reasoningSummary": "auto"}},
	{match{npms: []string{npmVenice}}, anyCall, object{"promptCacheKey": sessionKey}},
	{match{npms: []string{npmVenice}}, smallCall, object{"disableThinking": true}},
	{match{providers: []string{"deepinfra", "cerebras"}}, anyCall, object{"prompt_cache_key": sessionKey}},
	{match{npms: []string{npmGateway}}, anyCall, object{"caching": "auto"}},
	{match{ids: []string{"minimax-m3"}, protocols: []Protocol{ProtocolAnthropic}}, mainCall, object{"thinking": object{"type": "adaptive"}}},
	{match{ids: []string{"kimi"}, protocols: []Protocol{ProtocolAnthropic}, reasoning: true}, mainCall, object{"thinking": object{"type": "adaptive"}, "effort": "high"}},
	{match{providers: []string{"alibaba-cn"}, reasoning: true, npms: []string{npmCompatible}, not: []string{"kimi-k2-thinking"}}, mainCall, object{"enable_thinking": true}},
	{match{protocols: []Protocol{ProtocolAnthropic}, not: []string{"claude"}}, anyCall, object{"toolStreaming": false}},
	{match{npms: []string{npmVertexAnth}}, anyCall, object{"toolStreaming": false}},
}

// smallVariants are the levels that a small request takes when the model has
// them, the first one that exists. Claude does not think unless told to.
var smallVariants = []string{"none", "minimal", "low"}

// levelRow gives a family's reasoning levels where the catalogue says nothing.
// The first row that holds counts; no levels means none.
type levelRow struct {
	match
	levels string // separated by blanks
}

var levelRows = []levelRow{
	{match{protocols: []Protocol{ProtocolAnthropic}, ids: []string{"claude-opus-4-7", "claude-opus-4.7", "claude-opus-4-8", "claude-opus-4.8", "claude-sonnet-5", "claude-opus-5", "claude-haiku-5", "claude-fable"}}, "low medium high xhigh max"},
	{match{protocols: []Protocol{ProtocolAnthropic}, ids: []string{"claude-opus-4-6", "claude-opus-4.6", "claude-sonnet-4-6", "claude-sonnet-4.6"}}, "low medium high max"},
	{match{protocols: []Protocol{ProtocolAnthropic}, ids: []string{"kimi"}}, "low medium high xhigh max"},
	{match{protocols: []Protocol{ProtocolAnthropic}, ids: []string{"claude"}}, "budget"},
	{match{ids: []string{"grok-3-mini"}}, "low high"},
	{match{ids: []string{"deepseek-v4"}}, "low medium high max"},
	{match{ids: []string{"glm-5.2"}}, "high max"},
	{match{ids: []string{"deepseek", "minimax", "glm", "mistral", "grok", "qwen", "kimi"}}, ""},
	{match{npms: []string{npmOpenRouter, npmLLMGateway, npmGateway}, ids: []string{"gpt", "gemini-3"}}, "none minimal low medium high xhigh"},
	{match{npms: []string{npmOpenRouter, npmLLMGateway, npmGateway}}, ""},
	{match{ids: []string{"gpt-5-pro", "o1-mini"}}, ""},
	{match{npms: openaiTypes, ids: gpt5, all: []string{"-pro"}}, "medium high xhigh"},
	{match{npms: openaiTypes, all: []string{"codex"}, ids: []string{"5.2", "5.3", "5.4", "5.5"}}, "low medium high xhigh"},
	{match{npms: openaiTypes, ids: []string{"codex"}}, "low medium high"},
	{match{npms: openaiTypes, ids: []string{"gpt-5.1"}}, "none low medium high"},
	{match{npms: openaiTypes, ids: []string{"gpt-5.", "gpt-6"}}, "none low medium high xhigh"},
	{match{npms: openaiTypes, ids: gpt5, releasedFrom: "2025-12-04"}, "none low medium high xhigh"},
	{match{npms: openaiTypes, ids: gpt5, releasedFrom: "2025-11-13"}, "none low medium high"},
	{match{npms: openaiTypes, ids: gpt5}, "minimal low medium high"},
	{match{npms: openaiTypes}, "low medium high"},
	{match{npms: []string{npmGoogle, npmVertex}, ids: []string{"gemini-2.5"}}, "budget"},
	{match{npms: []string{npmGoogle, npmVertex}, all: []string{"flash"}, ids: gemini3}, "minimal low medium high"},
	{match{npms: []string{npmGoogle, npmVertex}}, "low high"},
	{match{npms: []string{npmGroq}}, "none low medium high"},
	{match{npms: []string{npmMistral, "@ai-sdk/cohere", "@ai-sdk/perplexity"}}, ""},
	{match{protocols: []Protocol{ProtocolOpenAIChat, ProtocolOpenAI}}, "low medium high"},
}

// variants returns the reasoning levels of a model: the catalogue's finished
// sets, else its reasoning options, else the family table.
func variants(m *Model, c *catalog.Model) []catalog.Variant {
	if c != nil && c.HasVariants {
		return c.Variants
	}
	if !m.Caps.Reasoning {
		return nil
	}
	if c != nil && len(c.ReasoningOptions) > 0 {
		return optionVariants(m, c.ReasoningOptions)
	}
	for _, row := range levelRows {
		if row.holds(m) {
			if row.levels == "budget" {
				return budgetVariants(m, 0, 0)
			}
			return effortVariants(m, strings.Fields(row.levels))
		}
	}
	return nil
}

func optionVariants(m *Model, options []catalog.ReasoningOption) []catalog.Variant {
	for _, o := range options {
		switch o.Type {
		case "effort":
			return effortVariants(m, o.Values)
		case "budget_tokens":
			return budgetVariants(m, o.Min, o.Max)
		}
	}
	if options[0].Type == "toggle" {
		return effortVariants(m, []string{"none", "high"})
	}
	return nil
}

func effortVariants(m *Model, levels []string) []catalog.Variant {
	var list []catalog.Variant
	for _, level := range levels {
		if level == "" || level == "null" {
			level = "none"
		}
		list = append(list, catalog.Variant{Name: level, Options: effort(m, level)})
	}
	return list
}

// effort returns the options that set a reasoning level, in the spelling of the
// model's protocol and vendor.
func effort(m *Model, level string) object {
	switch {
	case m.NPM == npmBedrock:
		return object{"reasoningConfig": object{"type": "enabled", "maxReasoningEffort": level}}
	case m.Protocol == ProtocolAnthropic && level == "none":
		return object{"thinking": object{"type": "disabled"}}
	case m.Protocol == ProtocolAnthropic:
		return object{"thinking": object{"type": "adaptive", "display": "summarized"}, "effort": level}
	case m.Protocol == ProtocolGoogle && level == "none":
		return object{"thinkingConfig": object{"thinkingBudget": 0}}
	case m.Protocol == ProtocolGoogle:
		return object{"thinkingConfig": object{"includeThoughts": true, "thinkingLevel": level}}
	case slices.Contains(routers, m.NPM):
		return object{"reasoning": object{"effort": level}}
	case m.Protocol == ProtocolOpenAI:
		return object{"reasoningEffort": level, "reasoningSummary": "auto", "include": encrypted}
	}
	return object{"reasoningEffort": level}
}

const (
	budgetHigh = 16_000
	budgetMax  = 31_999
	budgetTop  = 24_576 // of Gemini 2.5
)

// budgetVariants returns "high" and "max" with a number of thinking tokens
// that leaves room for the answer.
func budgetVariants(m *Model, least, most int) []catalog.Variant {
	limit := budgetMax
	if m.Protocol == ProtocolGoogle {
		limit = budgetTop
	}
	if most > 0 {
		limit = min(limit, most)
	}
	if m.Limit.Output > 1 {
		limit = min(limit, m.Limit.Output-1)
	}
	high := max(min(budgetHigh, (limit+1)/2), least)
	return []catalog.Variant{{Name: "high", Options: budget(m, high)}, {Name: "max", Options: budget(m, max(limit, least))}}
}

func budget(m *Model, n int) object {
	switch {
	case m.NPM == npmBedrock:
		return object{"reasoningConfig": object{"type": "enabled", "budgetTokens": n}}
	case m.Protocol == ProtocolGoogle:
		return object{"thinkingConfig": object{"includeThoughts": true, "thinkingBudget": n}}
	case m.Protocol == ProtocolAnthropic:
		return object{"thinking": object{"type": "enabled", "budgetTokens": n}}
	}
	return object{"reasoning": object{"max_tokens": n}}
}
