package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Models of several vendors behind one Chat Completions endpoint: what a catalogue
// or a family says in a vendor's own spelling is spelled as the endpoint takes it.
func TestChatOptions(t *testing.T) {
	for _, tt := range []struct {
		name, npm string
		in, want  object
	}{
		{"Gemini's level", npmGateway, object{"thinkingConfig": object{"includeThoughts": true, "thinkingLevel": "high"}}, object{"reasoningEffort": "high"}},
		{"Gemini's budget", npmGateway, object{"thinkingConfig": object{"thinkingBudget": 100}}, object{"reasoning": object{"max_tokens": 100}}},
		{"Anthropic's budget", npmOpenRouter, object{"thinking": object{"type": "enabled", "budgetTokens": 100}, "reasoning": object{"exclude": true}}, object{"reasoning": object{"exclude": true, "max_tokens": 100}}},
		{"a budget that has no place", npmCompatible, object{"thinking": object{"type": "enabled", "budgetTokens": 100}}, object{}},
		{"Anthropic's level", npmGateway, object{"thinking": object{"type": "adaptive"}, "effort": "max", "toolStreaming": false}, object{"reasoningEffort": "max"}},
		{"Bedrock's", npmBedrock, object{"reasoningConfig": object{"type": "enabled", "maxReasoningEffort": "low"}}, object{"reasoningEffort": "low"}},
		{"a vendor's own", npmCompatible, object{"thinking": object{"type": "enabled", "clear_thinking": false}, "x": 1}, object{"thinking": object{"type": "enabled", "clear_thinking": false}, "x": 1}},
		{"told already", npmGateway, object{"effort": "low", "reasoningEffort": "high"}, object{"reasoningEffort": "high"}},
	} {
		m := &Model{NPM: tt.npm, Protocol: ProtocolOpenAIChat, Options: tt.in}
		got := m.options(Params{})
		for _, fixed := range []string{"usage", "caching"} { // of the family
			delete(got, fixed)
		}
		if diff := cmp.Diff(tt.want, object(got)); diff != "" && len(got)+len(tt.want) > 0 {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
