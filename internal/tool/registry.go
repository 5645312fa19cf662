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

// NewRegistry returns a registry of the tools in the order given. A tool
// replaces an earlier one of the same name.
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

// Quietly returns a registry of the same tools that does not offer those of the
// names; see [Spec.Quiet].
func (r *Registry) Quietly(names ...string) *Registry {
	out := &Registry{list: slices.Clone(r.list), byName: r.byName}
	for _, name := range names {
		if i, ok := out.byName[name]; ok {
			out.list[i].spec.Quiet = true
		}
	}
	return out
}

// Quiet returns the names of the tools that are not offered.
func (r *Registry) Quiet() (names []string) {
	for _, e := range r.list {
		if e.spec.Quiet {
			names = append(names, e.spec.Name)
		}
	}
	return names
}

// Specs returns what is offered to the model, in order: every tool that is not quiet,
// and never "invalid".
func (r *Registry) Specs() []Spec {
	out := make([]Spec, 0, len(r.list))
	for _, e := range r.list {
		if e.spec.Name != InvalidName && !e.spec.Quiet {
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
// name in another spelling, or that of another agent's tool of the kind, is put right,
// and so are the names of arguments of an [Adapter], and slips of JSON that can only mean
// one thing. An unknown name, or arguments
// that are not JSON, become a call of "invalid" that carries the reason; Resolve
// reports the name it chose. It returns a nil Tool only if "invalid" is needed
// and not registered. The input is not yet checked against the schema: hooks may
// change it first.
func (r *Registry) Resolve(name, raw string) (string, Tool, json.RawMessage) {
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	raw = mended(raw)
	own, ok := r.called(name, raw)
	if !ok {
		return r.invalid(name, fmt.Sprintf("there is no tool %q; the tools are: %s", name, strings.Join(r.Names(), ", ")))
	}
	e := &r.list[r.byName[own]]
	input, _ := e.adapt(json.RawMessage(raw)) // Check reports what is wrong with it
	if !json.Valid(input) {
		_, err := decode(input)
		return r.invalid(own, err.Error())
	}
	if p, ok := e.tool.(Proxy); ok {
		if to, args, ok := p.Stands(input); ok && to != own && r.has(to) {
			return r.Resolve(to, string(args))
		}
	}
	if own == "bash" {
		if patch, ok := PatchInShell(input); ok {
			if i, ok := r.byName["apply_patch"]; ok {
				return r.patch(i, patch, own, input)
			}
		}
	}
	return own, e.tool, input
}

// Proxy is a tool whose calls stand for calls of another tool in its registry.
type Proxy interface {
	Tool
	// Stands returns the call that is meant; ok is false if it cannot be determined.
	Stands(input json.RawMessage) (name string, args json.RawMessage, ok bool)
}

// has reports whether a name belongs to a tool that is not a [Proxy].
func (r *Registry) has(name string) bool {
	i, ok := r.byName[name]
	if !ok {
		return false
	}
	_, proxy := r.list[i].tool.(Proxy)
	return !proxy
}

// patch turns a command line into a call of apply_patch.
func (r *Registry) patch(i int, patch, name string, input json.RawMessage) (string, Tool, json.RawMessage) {
	mended, err := encode(map[string]any{"patchText": patch})
	if err != nil {
		return name, r.list[r.byName[name]].tool, input
	}
	return r.list[i].spec.Name, r.list[i].tool, mended
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
// mistakes corrected. The error is an [*ArgumentError].
func (r *Registry) Check(name string, input json.RawMessage) (json.RawMessage, error) {
	i, ok := r.byName[name]
	if !ok {
		return nil, &ArgumentError{Tool: name, Reason: "there is no such tool"}
	}
	e := &r.list[i]
	input, err := e.adapt(input)
	if err != nil {
		return nil, &ArgumentError{Tool: name, Reason: err.Error()}
	}
	fixed, err := e.schema.Fix(input)
	if err != nil {
		return nil, &ArgumentError{Tool: name, Reason: reason(e.needs(input), err)}
	}
	return fixed, nil
}

// reason names what is missing first, then whatever else is wrong.
func reason(missing string, err error) string {
	text := err.Error()
	switch {
	case missing == "":
		return text
	case strings.Contains(text, "required"):
		return missing
	}
	return missing + "; and " + text
}
