package google_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/google"
	"lathe/internal/llm/llmtest"
)

// any stands in the expected schemas for what takes any plain value.
const anyValue = `{"anyOf":[{"type":"STRING"},{"type":"NUMBER"},{"type":"BOOLEAN"}]}`

func TestSchema(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", `{"type":"object","properties":{}}`, `{"type":"OBJECT"}`},
		{"no object", `[]`, `{"type":"OBJECT"}`},
		{"unknown keywords, at any depth", `{"$schema":"s","$id":"i","type":"object","additionalProperties":false,"properties":{"a":{"type":"object","additionalProperties":{"type":"string"},"properties":{"b":{"type":"string","contentEncoding":"base64","deprecated":true}},"propertyNames":{}}},"unevaluatedProperties":false}`,
			`{"type":"OBJECT","properties":{"a":{"type":"OBJECT","properties":{"b":{"type":"STRING"}}}}}`},
		{"reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/P","description":"own"},"b":{"$ref":"#/definitions/x~1y%20z"},"c":{"$ref":"elsewhere.json"}},"$defs":{"P":{"type":"string","description":"of P"}},"definitions":{"x/y z":{"type":"integer"}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING","description":"own"},"b":{"type":"INTEGER"},"c":` + anyValue + `}}`},
		{"reference to itself", `{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"v":{"type":"string"},"next":{"$ref":"#/$defs/N"}}}}}`,
			`{"type":"OBJECT","properties":{"n":{"type":"OBJECT","properties":{"v":{"type":"STRING"},"next":{"type":"OBJECT","properties":{"v":{"type":"STRING"},"next":{"type":"OBJECT"}}}}}}}`},
		{"all of", `{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/A"},{"properties":{"y":{"type":"number"}},"required":["y"]}]}},"$defs":{"A":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"OBJECT","properties":{"y":{"type":"NUMBER"},"x":{"type":"STRING"}},"required":["y","x"]}}}`},
		{"one of, null, enums", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]},"b":{"anyOf":[{"const":"x"},{"const":"y"}]},"c":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}],"description":"d"},"d":{"enum":["a",null,"",3]}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true},"b":{"type":"STRING","enum":["x","y"]},"c":{"anyOf":[{"type":"STRING"},{"type":"ARRAY","items":{"type":"STRING"}}],"description":"d"},"d":{"type":"STRING","enum":["a","3"],"nullable":true}}}`},
		{"alternatives at the root", `{"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}}}`},
		{"numbers and texts", `{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"maximum":9,"format":"int64","multipleOf":2},"b":{"type":"string","format":"uri","minLength":1,"pattern":"^h"},"c":{"type":"string","format":"date-time","default":"now"},"d":{"type":"array","items":{},"minItems":1.0,"uniqueItems":true},"e":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}]}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"INTEGER","minimum":0,"maximum":9,"format":"int64"},"b":{"type":"STRING","minLength":1,"pattern":"^h","description":"(format: uri)"},"c":{"type":"STRING","format":"date-time","description":"(default: \"now\")"},"d":{"type":"ARRAY","items":{"type":"STRING"},"minItems":1},"e":{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}}}}`},
		{"any value", `{"type":"object","properties":{"a":true,"b":{},"c":{"description":"what"},"d":false,"e":{"type":"object","additionalProperties":{"type":"string"}},"f":{"type":"null"}},"required":["a","d"]}`,
			`{"type":"OBJECT","properties":{"a":` + anyValue + `,"b":` + anyValue + `,"c":` + strings.TrimSuffix(anyValue, "}") + `,"description":"what"},"e":{"type":"OBJECT","description":"(any keys, values of type string)"},"f":{"type":"STRING","nullable":true}},"required":["a"]}`},
		{"properties named like keywords", `{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"object","properties":{"required":{"type":"boolean"}}},"$ref":{"type":"string"}},"required":["type"]}`,
			`{"type":"OBJECT","properties":{"type":{"type":"STRING"},"properties":{"type":"OBJECT","properties":{"required":{"type":"BOOLEAN"}}},"$ref":{"type":"STRING"}},"required":["type"]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := google.Schema(json.RawMessage(tt.in))
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
			if err := llmtest.CheckSchema("google", got); err != nil {
				t.Error(err)
			}
			if again := google.Schema(got); string(again) != string(got) {
				t.Errorf("again: %s", again)
			}
		})
	}
}

// A schema that refers to itself in many places must not grow without end.
func TestSchemaIsBounded(t *testing.T) {
	var defs, props strings.Builder
	for i := range 30 {
		fmt.Fprintf(&props, `"p%d":{"$ref":"#/$defs/D%d"},`, i, i)
	}
	for i := range 30 {
		fmt.Fprintf(&defs, `"D%d":{"allOf":[{"$ref":"#/$defs/D%d"},{"type":"object","properties":{%s"end":{}}}]},`, i, (i+1)%30, props.String())
	}
	got := google.Schema(json.RawMessage(`{"type":"object","properties":{` + props.String() + `"end":{}},"$defs":{` + defs.String() + `"E":{}}}`))
	if len(got) > 1<<20 {
		t.Errorf("the schema has %d bytes", len(got))
	}
	if err := llmtest.CheckSchema("google", got); err != nil {
		t.Error(err)
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":["array","null"],"items":{"anyOf":[{"enum":[1,null]}]},"properties":{"a":3},"required":7}`))
	f.Add([]byte(`{"allOf":[{"$ref":"#"},{"$ref":"#/allOf/0"}],"anyOf":[{"required":["a"]}],"properties":{"a":{"const":{}}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := google.Schema(raw)
		if err := llmtest.CheckSchema("google", got); err != nil {
			t.Fatalf("%q gives %s: %v", raw, got, err)
		}
		if again := google.Schema(got); string(again) != string(got) {
			t.Fatalf("%q gives %s, and that %s", raw, got, again)
		}
	})
}

// The service gives some calls an identifier; it comes back with the call and
// with its result, and a call of another model has none.
func TestCallIDsGoBack(t *testing.T) {
	srv := llmtest.New(t, llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "read", Args: `{"p":"a"}`}, llmtest.Call{Name: "list", Args: `{}`}}},
		{Blocks: []llmtest.Block{llmtest.Text("ok")}},
	})
	client := adapter.NewClient()
	defer client.CloseIdleConnections()
	model := google.New(adapter.Endpoint{BaseURL: srv.URL + "/v1beta", Client: client})
	req := request("gemini-3-pro")
	for range 2 {
		got, err := llmtest.Fold(model.Stream(t.Context(), req), req.Origin)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Content: got.Content})
		var results []llm.Content
		for _, c := range got.Content {
			if u, ok := c.(llm.ToolUse); ok {
				results = append(results, llm.ToolResult{ID: u.ID, Name: u.Name, Output: "r"})
			}
		}
		if results != nil {
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleTool, Content: results})
		}
	}
	var body struct {
		Contents []struct {
			Parts []map[string]any `json:"parts"`
		} `json:"contents"`
	}
	last := srv.Requests()[1]
	if err := json.Unmarshal(last.Body, &body); err != nil || last.Rejected != "" {
		t.Fatal(err, last.Rejected)
	}
	var ids []any
	for _, c := range body.Contents {
		for _, p := range c.Parts {
			for _, key := range []string{"functionCall", "functionResponse"} {
				if f, ok := p[key].(map[string]any); ok {
					ids = append(ids, f["id"])
				}
			}
		}
	}
	if diff := cmp.Diff([]any{nil, nil, nil, nil, "fc_1_0", "fc_1_1", "fc_1_0", "fc_1_1"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}
