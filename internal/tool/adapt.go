package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Adapter is a tool that understands how models call other agents' tools of its kind.
type Adapter interface {
	// Adapt converts arguments, in place, to the tool's own. The error says why
	// they cannot be carried out: ignoring what is extra would change the meaning.
	Adapt(args map[string]any) error
	// Bare names the argument that a text given instead of an object is for, or is empty.
	Bare() string
}

// Canonical returns a name in the form used for comparison: file_path, FilePath and file-path are the same.
func Canonical(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// adapt returns the input as the tool takes it, if the tool is an [Adapter]: names are
// corrected, and unknown ones are left out.
func (e *entry) adapt(input json.RawMessage) (json.RawMessage, error) {
	a, ok := e.tool.(Adapter)
	if !ok {
		return input, nil
	}
	args, changed := e.object(a, input)
	if args == nil {
		return input, nil
	}
	c, err := e.schema.compile()
	if err != nil {
		return input, nil
	}
	given := copied(args)
	rename(c.root, args)
	if err := a.Adapt(args); err != nil {
		return input, err
	}
	prune(c.root, args)
	if !changed && reflect.DeepEqual(given, args) {
		return input, nil
	}
	before, err := encode(given)
	if err != nil {
		return input, nil
	}
	after, err := encode(args)
	if err != nil || !changed && bytes.Equal(before, after) {
		return input, nil
	}
	return after, nil
}

// copied returns a decoded value that shares its texts and nothing else.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, e := range v {
			c[k] = copied(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = copied(e)
		}
		return c
	}
	return v
}

// object returns the arguments; a bare text becomes the argument it stands for.
func (e *entry) object(a Adapter, input json.RawMessage) (args map[string]any, changed bool) {
	value, err := decode(input)
	if err != nil {
		text := strings.TrimSpace(string(input))
		if a.Bare() == "" || text == "" || strings.ContainsAny(text[:1], `{["`) {
			return nil, false
		}
		return map[string]any{a.Bare(): string(input)}, true
	}
	value, changed = unwrap(value)
	switch v := value.(type) {
	case map[string]any:
		return v, changed
	case string:
		if a.Bare() != "" {
			return map[string]any{a.Bare(): v}, true
		}
	}
	return nil, false
}

// rename gives arguments the schema's names where they differ in case, "_" or "-" only,
// also those of objects in a list.
func rename(schema, args map[string]any) {
	props, _ := schema["properties"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(args)) {
		if _, known := props[key]; known {
			continue
		}
		for name := range props {
			if _, given := args[name]; !given && Canonical(name) == Canonical(key) {
				args[name] = args[key]
				delete(args, key)
			}
		}
	}
	for name, sub := range props {
		for _, item := range objects(sub, args[name]) {
			rename(item.schema, item.args)
		}
	}
}

// prune leaves out what the schema does not know.
func prune(schema, args map[string]any) {
	props, _ := schema["properties"].(map[string]any)
	if closed, ok := schema["additionalProperties"].(bool); ok && !closed {
		for key := range args {
			if _, known := props[key]; !known {
				delete(args, key)
			}
		}
	}
	for name, sub := range props {
		for _, item := range objects(sub, args[name]) {
			prune(item.schema, item.args)
		}
	}
}

type item struct{ schema, args map[string]any }

// objects lists the objects of a list whose items have a schema.
func objects(schema, value any) []item {
	sub, _ := schema.(map[string]any)
	items, _ := sub["items"].(map[string]any)
	list, _ := value.([]any)
	if items == nil {
		return nil
	}
	var out []item
	for _, v := range list {
		if args, ok := v.(map[string]any); ok {
			out = append(out, item{items, args})
		}
	}
	return out
}

// needs says what a tool needs and what it was given, if something is missing.
func (e *entry) needs(input json.RawMessage) string {
	c, err := e.schema.compile()
	if err != nil {
		return ""
	}
	value, err := decode(input)
	args, ok := value.(map[string]any)
	required, _ := c.root["required"].([]any)
	if err != nil || !ok || len(required) == 0 {
		return ""
	}
	var want, missing []string
	for _, r := range required {
		name, _ := r.(string)
		want = append(want, name)
		if args[name] == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	gave := strings.Join(slices.Sorted(maps.Keys(args)), ", ")
	if gave == "" {
		gave = "nothing"
	}
	return fmt.Sprintf("%s is missing: %s needs %s; you gave %s", strings.Join(missing, ", "), e.spec.Name, strings.Join(want, ", "), gave)
}
