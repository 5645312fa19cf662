package provider

import (
	"bytes"
	"encoding/json"
	"slices"

	"lathe/internal/jsonc"
	"lathe/internal/llm/google"
)

// Schema returns a tool's JSON Schema in the form that the model's provider
// accepts. Most accept it unchanged if its root is a plain object. The same
// schema always gives the same bytes; anything other than a JSON object becomes
// an object schema without properties.
func (m *Model) Schema(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); !bytes.HasPrefix(raw, []byte("{")) || !json.Valid(raw) {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if m.Protocol == ProtocolGoogle {
		return google.Schema(raw)
	}
	if !plainRoot(raw) {
		raw = flatRoot(raw)
	}
	for _, row := range schemaRows {
		if !row.holds(m) {
			continue
		}
		tree, err := jsonc.Parse("schema", raw)
		if err != nil { // nested too deeply, say
			return json.RawMessage(`{"type":"object","properties":{}}`)
		}
		return row.clean(tree).Append(nil)
	}
	return raw
}

type schemaRow struct {
	match
	clean func(*jsonc.Value) *jsonc.Value
}

var schemaRows = []schemaRow{
	{match{providers: []string{"google"}}, geminiSchema},
	{match{npms: []string{npmGoogle, npmVertex}}, geminiSchema},
	{match{ids: []string{"gemini"}}, geminiSchema},
	{match{ids: []string{"kimi", "moonshot"}}, kimiSchema},
	{match{providers: []string{"moonshotai", "moonshotai-cn"}}, kimiSchema},
	{match{npms: []string{npmOpenAI, npmAzure}}, openaiSchema},
}

// below applies f to every schema directly below s. Keywords whose value is
// data (enum, default, examples) are not schemas and are passed over.
func below(s *jsonc.Value, f func(*jsonc.Value) *jsonc.Value) {
	for i, m := range s.Members {
		switch m.Key {
		case "properties", "$defs", "definitions", "patternProperties":
			for j, p := range m.Value.Members {
				m.Value.Members[j].Value = f(p.Value)
			}
		case "items", "additionalProperties", "not", "contains", "if", "then", "else":
			if m.Value.Kind == jsonc.Array {
				for j, e := range m.Value.Items {
					m.Value.Items[j] = f(e)
				}
				continue
			}
			s.Members[i].Value = f(m.Value)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			for j, e := range m.Value.Items {
				m.Value.Items[j] = f(e)
			}
		}
	}
}

func typeOf(s *jsonc.Value) string {
	if t := s.Get("type"); t != nil && t.Kind == jsonc.String {
		return t.Text
	}
	return ""
}

// geminiSchema: enum values are strings, lists say what they hold, several
// types become alternatives, and only objects have properties.
func geminiSchema(s *jsonc.Value) *jsonc.Value {
	if s.Kind != jsonc.Object {
		return s
	}
	below(s, geminiSchema)
	geminiTypes(s)
	geminiEnum(s)
	switch typ := typeOf(s); typ {
	case "object":
		if req := s.Get("required"); req != nil && req.Kind == jsonc.Array && s.Get("properties") != nil {
			req.Items = slices.DeleteFunc(req.Items, func(e *jsonc.Value) bool {
				return s.Get("properties").Get(e.Text) == nil
			})
		}
	case "array":
		items := s.Get("items")
		if items == nil {
			items = jsonc.NewObject()
			s.Set("items", items)
		}
		if items.Kind == jsonc.Object && !schemaLike(items) {
			items.Set("type", jsonc.NewString("string"))
		}
		fallthrough
	default:
		if typ != "" {
			s.Delete("properties")
			s.Delete("required")
		}
	}
	return s
}

func schemaLike(s *jsonc.Value) bool {
	for _, k := range []string{"type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "properties", "items"} {
		if s.Get(k) != nil {
			return true
		}
	}
	return false
}

// geminiTypes turns "type": ["string", "null"] into a nullable string, and
// several other types into alternatives.
func geminiTypes(s *jsonc.Value) {
	t := s.Get("type")
	if t == nil || t.Kind != jsonc.Array {
		return
	}
	var types []*jsonc.Value
	for _, e := range t.Items {
		if e.Text == "null" {
			s.Set("nullable", jsonc.NewBool(true))
			continue
		}
		types = append(types, e)
	}
	if len(types) == 1 {
		s.Set("type", types[0])
		return
	}
	s.Delete("type")
	if len(types) == 0 || s.Get("anyOf") != nil {
		return
	}
	any := &jsonc.Value{Kind: jsonc.Array}
	for _, e := range types {
		alt := jsonc.NewObject()
		alt.Set("type", e)
		any.Items = append(any.Items, geminiSchema(alt))
	}
	s.Set("anyOf", any)
}

func geminiEnum(s *jsonc.Value) {
	enum := s.Get("enum")
	if enum == nil || enum.Kind != jsonc.Array {
		return
	}
	for i, e := range enum.Items {
		if e.Kind != jsonc.String {
			enum.Items[i] = jsonc.NewString(string(e.Append(nil)))
		}
	}
	if t := typeOf(s); t == "integer" || t == "number" {
		s.Set("type", jsonc.NewString("string"))
	}
}

// kimiSchema: a $ref stands alone, and a tuple becomes a list of its first
// element.
func kimiSchema(s *jsonc.Value) *jsonc.Value {
	if s.Kind != jsonc.Object {
		return s
	}
	if ref := s.Get("$ref"); ref != nil {
		only := jsonc.NewObject()
		only.Set("$ref", ref)
		return only
	}
	below(s, kimiSchema)
	if items := s.Get("items"); items != nil && items.Kind == jsonc.Array {
		first := jsonc.NewObject()
		if len(items.Items) > 0 {
			first = items.Items[0]
		}
		s.Set("items", first)
	}
	return s
}

var openaiKeywords = []string{"$ref", "description", "enum", "properties", "required", "items", "additionalProperties",
	"anyOf", "oneOf", "allOf", "$defs", "definitions", "type"}

// openaiSchema keeps the keywords that the Responses protocol knows and fills
// in the types it insists on.
func openaiSchema(s *jsonc.Value) *jsonc.Value {
	if s.Kind == jsonc.Bool {
		str := jsonc.NewObject()
		str.Set("type", jsonc.NewString("string"))
		return str
	}
	if s.Kind != jsonc.Object {
		return s
	}
	if c := s.Get("const"); c != nil && s.Get("enum") == nil {
		s.Set("enum", &jsonc.Value{Kind: jsonc.Array, Items: []*jsonc.Value{c}})
	}
	s.Members = slices.DeleteFunc(s.Members, func(m jsonc.Member) bool { return !slices.Contains(openaiKeywords, m.Key) })
	extra := s.Get("additionalProperties")
	below(s, openaiSchema)
	if extra != nil && extra.Kind == jsonc.Bool { // not a schema here
		s.Set("additionalProperties", extra)
	}
	if s.Get("type") == nil {
		inferType(s)
	}
	switch {
	case typeOf(s) == "object" && s.Get("properties") == nil:
		s.Set("properties", jsonc.NewObject())
	case typeOf(s) == "array" && s.Get("items") == nil:
		s.Set("items", openaiSchema(jsonc.NewBool(true)))
	}
	return s
}

func inferType(s *jsonc.Value) {
	typ := ""
	switch {
	case s.Get("$ref") != nil, s.Get("anyOf") != nil, s.Get("oneOf") != nil, s.Get("allOf") != nil:
		return
	case s.Get("properties") != nil, s.Get("additionalProperties") != nil, s.Get("required") != nil:
		typ = "object"
	case s.Get("items") != nil:
		typ = "array"
	case s.Get("enum") != nil:
		typ = enumType(s.Get("enum"))
	default:
		typ = "string"
	}
	if typ != "" {
		s.Set("type", jsonc.NewString(typ))
	}
}

func enumType(enum *jsonc.Value) string {
	if len(enum.Items) == 0 {
		return ""
	}
	for _, e := range enum.Items {
		if e.Kind != enum.Items[0].Kind {
			return ""
		}
	}
	switch enum.Items[0].Kind {
	case jsonc.String:
		return "string"
	case jsonc.Number:
		return "number"
	case jsonc.Bool:
		return "boolean"
	}
	return ""
}
