package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxReason bounds the reason of an [ArgumentError]; validators quote the value.
const maxReason = 600

// ArgumentError reports that a call's arguments do not satisfy the tool's
// schema. Its text is written for the model.
type ArgumentError struct {
	Tool   string
	Reason string
}

// Error returns the message for the model.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("The %s tool was called with invalid arguments: %s.\n"+
		"Rewrite the input so that it satisfies the tool's schema, then call it again.", e.Tool, e.Reason)
}

// Check reports why the input does not satisfy the schema, or nil. The harmless
// mistakes that [Schema.Fix] mends count as satisfied. It compiles the schema
// each time; keep a [Schema] to check more than once.
func Check(schema, input json.RawMessage) error {
	_, err := NewSchema(schema).Fix(input)
	return err
}

// Schema is a JSON Schema that is compiled when it is first used. It is safe
// for concurrent use.
type Schema struct {
	compile func() (*compiled, error)
}

type compiled struct {
	resolved *jsonschema.Resolved
	root     map[string]any
	// each is the schema without its required list, for checking one property
	// alone; nil if it cannot be made.
	each func() *jsonschema.Resolved
}

// NewSchema returns the schema without compiling it.
func NewSchema(raw json.RawMessage) *Schema {
	return &Schema{compile: sync.OnceValues(func() (*compiled, error) { return compile(raw) })}
}

func compile(raw json.RawMessage) (*compiled, error) {
	var c compiled
	if err := json.Unmarshal(raw, &c.root); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if err := checkRefs(c.root); err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	c.resolved = resolved
	c.each = sync.OnceValue(func() *jsonschema.Resolved { return withoutRequired(raw) })
	return &c, nil
}

func withoutRequired(raw json.RawMessage) *jsonschema.Resolved {
	var s jsonschema.Schema
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	s.Required = nil
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved
}

// Err reports why the schema cannot be compiled, or nil.
func (s *Schema) Err() error {
	_, err := s.compile()
	return err
}

// Fix checks the input and returns it, mended where models commonly slip and the
// meaning is not in doubt: an object given as JSON text or wrapped in an array of
// one, numbers and booleans given as strings, arrays and objects given as JSON
// text, null for an optional property. An input that needs no mending is returned
// unchanged. With a schema that does not compile (a foreign tool's) only objects
// are accepted and nothing else is checked.
func (s *Schema) Fix(input json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	value, err := decode(input)
	if err != nil {
		return nil, err
	}
	value, mended := unwrap(value)
	if _, ok := value.(map[string]any); !ok {
		return nil, errors.New("the arguments are not a JSON object")
	}
	c, err := s.compile()
	if err == nil {
		var m bool
		value, m = mend(c.root, value, 0)
		mended = mended || m
	}
	if mended {
		if input, err = encode(value); err != nil {
			return nil, err
		}
	}
	if c == nil {
		return input, nil
	}
	return input, c.validate(input)
}

func (c *compiled) validate(input json.RawMessage) error {
	var instance any // the validator wants float64, not json.Number
	if err := json.Unmarshal(input, &instance); err != nil {
		return fmt.Errorf("the arguments are not JSON: %w", err)
	}
	if err := c.resolved.Validate(instance); err != nil {
		return errors.New(c.reasons(instance, err))
	}
	return nil
}

// reasons names every property that is wrong, ordered by name, because the
// validator stops at the first one it happens to meet.
func (c *compiled) reasons(instance any, first error) string {
	args, _ := instance.(map[string]any)
	each := c.each()
	if each == nil {
		return plainReason(first)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if err := each.Validate(map[string]any{name: args[name]}); err != nil {
			all = append(all, plainReason(err))
		}
	}
	if len(all) == 0 {
		return plainReason(first)
	}
	return bounded(strings.Join(all, "; "))
}

// plainReason strips the validator's own vocabulary from its message.
func plainReason(err error) string {
	s := strings.ReplaceAll(err.Error(), "validating root: ", "")
	for {
		i := strings.Index(s, "validating /")
		if i < 0 {
			break
		}
		path, rest, ok := strings.Cut(s[i+len("validating /"):], ": ")
		if !ok {
			break
		}
		path = strings.ReplaceAll(path, "properties/", "")
		s = s[:i] + strings.ReplaceAll(path, "/", ".") + ": " + rest
	}
	return bounded(strings.TrimRight(s, ".\n "))
}

func bounded(reason string) string {
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + " …"
	}
	return reason
}

// decode reads one JSON value, keeping numbers as they are written.
func decode(input []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the arguments are not JSON: something follows the object")
	}
	return v, nil
}

func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// unwrap takes the object out of JSON text or an array of one.
func unwrap(v any) (any, bool) {
	switch t := v.(type) {
	case string:
		if inner, err := decode([]byte(t)); err == nil {
			if _, ok := inner.(map[string]any); ok {
				return inner, true
			}
		}
	case []any:
		if len(t) == 1 {
			if _, ok := t[0].(map[string]any); ok {
				return t[0], true
			}
		}
	}
	return v, false
}

const maxMendDepth = 64

// mend repairs the value against the schema and reports whether it changed.
func mend(schema map[string]any, v any, depth int) (any, bool) {
	if depth > maxMendDepth {
		return v, false
	}
	if s, ok := v.(string); ok {
		return mendString(schema, s, depth)
	}
	changed := false
	switch t := v.(type) {
	case json.Number:
		return mendInteger(schema, t)
	case map[string]any:
		return t, mendObject(schema, t, depth)
	case []any:
		items, _ := schema["items"].(map[string]any)
		if items == nil {
			return t, false
		}
		for i := range t {
			var c bool
			t[i], c = mend(items, t[i], depth+1)
			changed = changed || c
		}
	}
	return v, changed
}

func mendObject(schema, obj map[string]any, depth int) bool {
	props, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	changed := false
	for name, value := range obj {
		sub, ok := props[name].(map[string]any)
		if !ok {
			continue
		}
		if value == nil {
			if !slices.Contains(required, any(name)) && !allowsNull(sub) {
				delete(obj, name)
				changed = true
			}
			continue
		}
		fixed, c := mend(sub, value, depth+1)
		if c {
			obj[name] = fixed
			changed = true
		}
	}
	return changed
}

// allowsNull reports whether null may be meant; a schema without a plain type is
// left to the validator.
func allowsNull(schema map[string]any) bool {
	t, ok := schema["type"].(string)
	return !ok || t == "null"
}

// mendString turns text into the single type that the schema asks for, if the
// text is exactly such a value written out.
func mendString(schema map[string]any, s string, depth int) (any, bool) {
	typ, _ := schema["type"].(string)
	trimmed := strings.TrimSpace(s)
	switch typ {
	case "integer", "number":
		if n := json.Number(trimmed); isNumber(n) {
			whole, _ := mendInteger(schema, n)
			return whole, true
		}
	case "boolean":
		if trimmed == "true" || trimmed == "false" {
			return trimmed == "true", true
		}
	case "array", "object":
		inner, err := decode([]byte(trimmed))
		if err != nil {
			return s, false
		}
		_, isList := inner.([]any)
		_, isObject := inner.(map[string]any)
		if (typ == "array" && isList) || (typ == "object" && isObject) {
			inner, _ = mend(schema, inner, depth+1)
			return inner, true
		}
	}
	return s, false
}

// mendInteger writes an integer with a zero fraction or an exponent ("12.0")
// the way Go reads integers.
func mendInteger(schema map[string]any, n json.Number) (json.Number, bool) {
	if schema["type"] != "integer" || !strings.ContainsAny(string(n), ".eE") {
		return n, false
	}
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return n, false
	}
	return json.Number(strconv.FormatInt(int64(f), 10)), true
}

// isNumber reports whether the text is a JSON number that fits a float64.
func isNumber(n json.Number) bool {
	if !json.Valid([]byte(n)) || len(n) == 0 || !strings.ContainsRune("-0123456789", rune(n[0])) {
		return false
	}
	_, err := strconv.ParseFloat(string(n), 64)
	return err == nil
}
