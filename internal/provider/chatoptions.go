package provider

import (
	"cmp"
	"slices"
	"strings"
)

// chatOptions spells options for a Chat Completions endpoint. A gateway or cloud
// with models from several vendors is addressed in this protocol, while the
// catalogue and the family tables describe reasoning in the vendors' own
// protocols; sent unchanged, those options would be unknown members of the
// request.
func (m *Model) chatOptions(o object) {
	level, budget := "", any(nil)
	if t, ok := o["thinkingConfig"].(object); ok { // Gemini's
		delete(o, "thinkingConfig")
		level, _ = t["thinkingLevel"].(string)
		budget = t["thinkingBudget"]
	}
	if t, ok := o["reasoningConfig"].(object); ok { // Bedrock's
		delete(o, "reasoningConfig")
		l, _ := t["maxReasoningEffort"].(string)
		level, budget = cmp.Or(level, l), either(budget, t["budgetTokens"])
	}
	if t, ok := o["thinking"].(object); ok && anthropicThinking(t) {
		delete(o, "thinking")
		budget = either(budget, t["budgetTokens"])
	}
	if e, ok := o["effort"].(string); ok { // Anthropic's
		delete(o, "effort")
		level = cmp.Or(e, level)
	}
	delete(o, "toolStreaming")
	_, told := o["reasoningEffort"]
	switch {
	case level != "" && !told:
		o["reasoningEffort"] = strings.ToLower(level)
	case level == "" && budget != nil && slices.Contains(gateways, m.NPM):
		mergeOptions(o, object{"reasoning": object{"max_tokens": budget}})
	}
}

func either(a, b any) any {
	if a != nil {
		return a
	}
	return b
}

// gateways accept a number of reasoning tokens in Chat Completions.
var gateways = []string{npmOpenRouter, npmLLMGateway, npmGateway}

// anthropicThinking tells Anthropic's option from the one of the same name that
// vendors of Chat Completions have.
func anthropicThinking(t object) bool {
	_, budget := t["budgetTokens"]
	return budget || t["type"] == "adaptive"
}
