package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// CheckSchema returns why a provider that speaks the protocol would refuse a tool's
// schema, or nil.
func CheckSchema(protocol string, raw json.RawMessage) error {
	if protocol == "google" {
		var s googleSchema
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return fmt.Errorf("parameters: Cannot find field or invalid value: %w", err)
		}
		return s.check("parameters")
	}
	var root struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "enum", "not"} {
		if members[key] != nil {
			return fmt.Errorf("the schema does not support %s at the top level", key)
		}
	}
	if err := json.Unmarshal(raw, &root); err != nil || protocol != "anthropic" {
		return err
	}
	for name := range root.Properties {
		if !propertyName.MatchString(name) {
			return fmt.Errorf("properties: property keys should match pattern %s, and %q does not", propertyName, name)
		}
	}
	return nil
}

var propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// googleSchema is all that Gemini's Schema message has.
type googleSchema struct {
	Type             string                   `json:"type"`
	Format           string                   `json:"format"`
	Title            string                   `json:"title"`
	Description      string                   `json:"description"`
	Nullable         bool                     `json:"nullable"`
	Enum             []string                 `json:"enum"`
	Items            *googleSchema            `json:"items"`
	MinItems         int64                    `json:"minItems"`
	MaxItems         int64                    `json:"maxItems"`
	Properties       map[string]*googleSchema `json:"properties"`
	Required         []string                 `json:"required"`
	MinProperties    int64                    `json:"minProperties"`
	MaxProperties    int64                    `json:"maxProperties"`
	Minimum          float64                  `json:"minimum"`
	Maximum          float64                  `json:"maximum"`
	MinLength        int64                    `json:"minLength"`
	MaxLength        int64                    `json:"maxLength"`
	Pattern          string                   `json:"pattern"`
	AnyOf            []*googleSchema          `json:"anyOf"`
	PropertyOrdering []string                 `json:"propertyOrdering"`
}

var googleFormats = map[string][]string{"STRING": {"", "enum", "date-time"}, "INTEGER": {"", "int32", "int64"}, "NUMBER": {"", "float", "double"}}

func (s *googleSchema) check(at string) error {
	typ := strings.ToUpper(s.Type)
	switch {
	case len(s.AnyOf) > 0 && typ != "":
		return fmt.Errorf("%s: any_of must be the only field set", at)
	case len(s.AnyOf) > 0:
	case !slices.Contains([]string{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}, typ):
		return fmt.Errorf("%s.type: %q is no type", at, s.Type)
	case len(s.Enum) > 0 && typ != "STRING":
		return fmt.Errorf("%s.enum: only allowed for STRING type", at)
	case slices.Contains(s.Enum, ""):
		return fmt.Errorf("%s.enum: cannot be empty", at)
	case typ == "ARRAY" && s.Items == nil:
		return fmt.Errorf("%s.items: missing field", at)
	case typ != "OBJECT" && len(s.Properties)+len(s.Required) > 0:
		return fmt.Errorf("%s.properties: only allowed for OBJECT type", at)
	case !slices.Contains(append(googleFormats[typ], ""), s.Format):
		return fmt.Errorf("%s.format: %q is not supported for %s type", at, s.Format, typ)
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return fmt.Errorf("%s.required: property %q is not defined", at, name)
		}
	}
	for name, p := range s.Properties {
		if err := p.check(at + ".properties[" + name + "]"); err != nil {
			return err
		}
	}
	if s.Items != nil {
		if err := s.Items.check(at + ".items"); err != nil {
			return err
		}
	}
	for i, a := range s.AnyOf {
		if err := a.check(fmt.Sprintf("%s.any_of[%d]", at, i)); err != nil {
			return err
		}
	}
	return nil
}
