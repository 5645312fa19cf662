package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"lathe/internal/jsonc"
	"lathe/internal/llm/adapter"
)

// Providers are strictest about the root of a tool's arguments: it must be an
// object, with properties of its own, whose names use plain letters.

// rootKeywords are keywords at the root of a schema that providers refuse, or
// do not understand on an object.
var rootKeywords = []string{"anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"}

// maxProperty is the longest name of a property that every provider takes.
const maxProperty = 64

// plainRoot reports whether a schema is an object whose root every provider takes.
// It reads the schema without building anything, since nearly all are.
func plainRoot(raw json.RawMessage) bool {
	s := adapter.NewScan(raw)
	object := false
	for s.Open('{'); s.More('}'); {
		switch key := string(s.Key()); {
		case slices.Contains(rootKeywords, key):
			return false
		case key == "type":
			object = s.Is("object")
		case key == "properties":
			for s.Open('{'); s.More('}'); {
				if !plainProperty(string(s.Key())) {
					return false
				}
				s.Skip()
			}
		default:
			s.Skip()
		}
	}
	return s.Done() && object
}

func plainProperty(name string) bool {
	return name != "" && len(name) <= maxProperty && !strings.ContainsFunc(name, func(r rune) bool {
		return !isAlnum(r) && r != '_' && r != '.' && r != '-'
	})
}

// flatRoot returns the schema with a plain root: alternatives and references there
// are merged into one object with the properties of all of them, and properties
// with refused names are listed in the description. A model can still send those;
// what it sends is checked against the tool's own schema.
func flatRoot(raw json.RawMessage) json.RawMessage {
	tree, err := jsonc.Parse("schema", raw)
	if err != nil { // nested too deeply, say
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	root := jsonc.NewObject()
	root.Set("type", jsonc.NewString("object"))
	g := gatherer{root: tree, props: jsonc.NewObject(), left: maxGathered}
	g.gather(tree, true, maxGather)
	for _, m := range tree.Members {
		if !slices.Contains(rootKeywords, m.Key) && m.Key != "type" && m.Key != "properties" && m.Key != "required" {
			root.Set(m.Key, m.Value)
		}
	}
	describeOdd(root, g.props)
	root.Set("properties", g.props)
	required := &jsonc.Value{Kind: jsonc.Array}
	for _, name := range g.required {
		if g.props.Get(name) != nil && !slices.ContainsFunc(required.Items, func(e *jsonc.Value) bool { return e.Text == name }) {
			required.Items = append(required.Items, jsonc.NewString(name))
		}
	}
	if len(required.Items) > 0 {
		root.Set("required", required)
	}
	return root.Append(nil)
}

const (
	maxGather   = 8    // how deep references and alternatives are followed at the root
	maxGathered = 1000 // how many schemas are looked at
)

// gatherer collects the properties of a schema and of what it is combined from.
type gatherer struct {
	root, props *jsonc.Value
	required    []string
	left        int
}

// gather adds one schema; always is false for one of several alternatives,
// which cannot require anything.
func (g *gatherer) gather(s *jsonc.Value, always bool, depth int) {
	if g.left--; s == nil || s.Kind != jsonc.Object || depth < 0 || g.left < 0 {
		return
	}
	if own := s.Get("properties"); own != nil {
		for _, m := range own.Members {
			if g.props.Get(m.Key) == nil {
				g.props.Set(m.Key, m.Value)
			}
		}
	}
	if req := s.Get("required"); req != nil && always {
		for _, e := range req.Items {
			g.required = append(g.required, e.Text)
		}
	}
	if ref := s.Get("$ref"); ref != nil {
		g.gather(rootRef(g.root, ref.Text), always, depth-1)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if list := s.Get(key); list != nil {
			for _, e := range list.Items {
				g.gather(e, always && key == "allOf", depth-1)
			}
		}
	}
}

// rootRef finds "#/$defs/Name" and the like.
func rootRef(root *jsonc.Value, ref string) *jsonc.Value {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	return root.Path(strings.Split(path, "/")...)
}

// describeOdd removes properties with refused names and lists them in the description.
func describeOdd(root, props *jsonc.Value) {
	var odd []string
	props.Members = slices.DeleteFunc(props.Members, func(m jsonc.Member) bool {
		if plainProperty(m.Key) {
			return false
		}
		told := string(jsonc.NewString(m.Key).Append(nil))
		if t := typeOf(m.Value); t != "" {
			told += " (" + t + ")"
		}
		if d := m.Value.Get("description"); d != nil {
			told += ": " + d.Text
		}
		odd = append(odd, told)
		return true
	})
	if len(odd) == 0 {
		return
	}
	text := "Further properties: " + strings.Join(odd, "; ")
	if d := root.Get("description"); d != nil && d.Text != "" {
		text = d.Text + "\n" + text
	}
	root.Set("description", jsonc.NewString(text))
}
