package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// InvalidName is the tool that unusable calls are redirected to. It is
// registered but never offered to the model.
const InvalidName = "invalid"

// Registry is an ordered, unchanging list of tools. It is safe for concurrent use.
type Registry struct {
	list   []entry
	byName map[string]int
}

type entry struct {
	tool   Tool
	spec   Spec
	schema *Schema
}

// NewRegistry returns a registry of the tools in the order given. A tool whose
// name was given before takes the earlier one's place.
func NewRegistry(tools ...Tool) *Registry {
	r := &Registry{byName: make(map[string]int, len(tools))}
	for _, t := range tools {
		spec := t.Spec()
		e := entry{tool: t, spec: spec, schema: NewSchema(spec.Schema)}
		if i, ok := r.byName[spec.Name]; ok {
			r.list[i] = e
			continue
		}
		r.byName[spec.Name] = len(r.list)
		r.list = append(r.list, e)
	}
	return r
}

// Tools returns all tools in order.
func (r *Registry) Tools() []Tool {
	out := make([]Tool, len(r.list))
	for i, e := range r.list {
		out[i] = e.tool
	}
	return out
}

// Specs returns what is offered to the model, in order: every tool but "invalid".
func (r *Registry) Specs() []Spec {
	out := make([]Spec, 0, len(r.list))
	for _, e := range r.list {
		if e.spec.Name != InvalidName {
			out = append(out, e.spec)
		}
	}
	return out
}

// Names returns the names of the offered tools, sorted.
func (r *Registry) Names() []string {
	names := make([]string, 0, len(r.list))
	for _, s := range r.Specs() {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// Lookup returns the tool with exactly this name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	i, ok := r.byName[name]
	if !ok {
		return nil, false
	}
	return r.list[i].tool, true
}

// Resolve finds the tool that a model's call means and the input to give it. A
// name that differs in case only is put right. An unknown name, or arguments
// that are not JSON, become a call of "invalid" that carries the reason; Resolve
// reports the name it chose. It returns a nil Tool only if "invalid" is needed
// and not registered. The input is not yet checked against the schema: hooks may
// change it first.
func (r *Registry) Resolve(name, raw string) (string, Tool, json.RawMessage) {
	t, ok := r.Lookup(name)
	if !ok {
		name2 := strings.ToLower(strings.TrimSpace(name))
		if t, ok = r.Lookup(name2); ok {
			name = name2
		}
	}
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	if !ok {
		return r.invalid(name, fmt.Sprintf("there is no tool %q; the tools are: %s", name, strings.Join(r.Names(), ", ")))
	}
	if _, err := decode([]byte(raw)); err != nil {
		return r.invalid(name, err.Error())
	}
	return name, t, json.RawMessage(raw)
}

func (r *Registry) invalid(name, reason string) (string, Tool, json.RawMessage) {
	input, err := encode(struct {
		Tool  string `json:"tool"`
		Error string `json:"error"`
	}{name, reason})
	if err != nil { // strings always encode
		panic(err)
	}
	t, _ := r.Lookup(InvalidName)
	return InvalidName, t, input
}

// Check validates the input of the named tool and returns it with harmless
// mistakes mended. The error is an [*ArgumentError].
func (r *Registry) Check(name string, input json.RawMessage) (json.RawMessage, error) {
	i, ok := r.byName[name]
	if !ok {
		return nil, &ArgumentError{Tool: name, Reason: "there is no such tool"}
	}
	fixed, err := r.list[i].schema.Fix(input)
	if err != nil {
		return nil, &ArgumentError{Tool: name, Reason: err.Error()}
	}
	return fixed, nil
}
