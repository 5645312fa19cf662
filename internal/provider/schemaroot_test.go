package provider

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm/llmtest"
)

// A schema of somebody else's tool may be combined at its root and name
// properties as it likes; one such tool must not make every request fail.
func TestSchemaRoot(t *testing.T) {
	anthropic := &Model{Protocol: ProtocolAnthropic}
	for _, tt := range []struct{ name, in, want string }{
		{"plain", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}},"$defs":{}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}},"$defs":{}}`},
		{"no type", `{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`},
		{"alternatives", `{"type":"object","properties":{"a":{}},"required":["a"],"anyOf":[{"properties":{"b":{}},"required":["b"]},{"properties":{"c":{}}}],"description":"d"}`,
			`{"type":"object","description":"d","properties":{"a":{},"b":{},"c":{}},"required":["a"]}`},
		{"reference", `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{}},"required":["a","a","z"]}}}`,
			`{"type":"object","$defs":{"A":{"type":"object","properties":{"a":{}},"required":["a","a","z"]}},"properties":{"a":{}},"required":["a"]}`},
		{"all of", `{"allOf":[{"properties":{"a":{}},"required":["a"]},{"allOf":[{"properties":{"b":{}},"required":["b"]}]}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]}`},
		{"names", `{"type":"object","properties":{"$top":{"type":"integer","description":"how many"},"ok":{}},"required":["$top","ok"]}`,
			`{"type":"object","description":"Further properties: \"$top\" (integer): how many","properties":{"ok":{}},"required":["ok"]}`},
		{"list", `{"type":"array","items":{}}`, `{"type":"object","items":{},"properties":{}}`},
	} {
		got := anthropic.Schema(json.RawMessage(tt.in))
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		for _, protocol := range []string{"anthropic", "openai"} {
			if err := llmtest.CheckSchema(protocol, got); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	}
}
