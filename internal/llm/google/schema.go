package google

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/jsonc"
)

// NoArguments is the schema of a tool that takes none.
const NoArguments = `{"type":"OBJECT"}`

const (
	// maxNodes bounds what references can blow a schema up to; what lies beyond
	// takes any value.
	maxNodes = 4000
	// maxRecursion is how often a reference is followed within itself.
	maxRecursion = 2
)

// Schema returns a tool's JSON Schema as the protocol's own Schema message,
// which is a small subset: it refuses a request for a single keyword that it
// does not know. References are resolved, allOf is merged, oneOf becomes anyOf,
// and what has no field but helps a model (a default, a format) moves into the
// description. The same schema always gives the same bytes, and converting a
// result again leaves it unchanged. Anything other than an object schema becomes
// [NoArguments].
func Schema(raw json.RawMessage) json.RawMessage {
	tree, err := jsonc.Parse("schema", raw)
	if err != nil || tree.Kind != jsonc.Object { // nested too deeply, say
		return json.RawMessage(NoArguments)
	}
	r := reducer{root: tree}
	out := r.whole(tree)
	return out.Append(nil)
}

// reducer turns one schema into the protocol's form.
type reducer struct {
	root      *jsonc.Value
	nodes     int
	following []string // references around the current schema
}

// whole reduces the schema of all arguments, which becomes an object whatever it says.
func (r *reducer) whole(s *jsonc.Value) *jsonc.Value {
	s, done := r.resolve(s)
	defer done()
	s = clone(s)
	s.Set("type", jsonc.NewString("object"))
	return r.reduce(s)
}

// schema reduces a schema at any place.
func (r *reducer) schema(s *jsonc.Value) *jsonc.Value {
	if r.nodes++; s == nil || s.Kind != jsonc.Object || r.nodes > maxNodes {
		return anything()
	}
	s, done := r.resolve(s)
	defer done()
	return r.reduce(s)
}

// reduce turns a resolved schema into what the protocol knows about it.
func (r *reducer) reduce(s *jsonc.Value) *jsonc.Value {
	types, nullable := typesOf(s)
	enum, null := enumOf(s)
	nullable = nullable || null
	var out *jsonc.Value
	switch options, null := alternatives(s); {
	case len(types) == 1:
		nullable = nullable || null
		out = r.typed(s, types[0], enum)
	case len(types) > 1:
		var each []*jsonc.Value
		for _, t := range types {
			each = append(each, r.typed(without(s, "description"), t, enum))
		}
		out = anyOf(each)
	case len(options) > 0:
		nullable = nullable || null
		var each []*jsonc.Value
		for _, o := range options {
			each = append(each, r.schema(o))
		}
		out = anyOf(each)
	default:
		out = anything()
	}
	if text := describe(s, textOf(out, "description")); text != "" {
		out.Set("description", jsonc.NewString(text))
	}
	if nullable {
		out.Set("nullable", jsonc.NewBool(true))
	}
	return out
}

// typed reduces a schema to the keywords that go with one type.
func (r *reducer) typed(s *jsonc.Value, typ string, enum []string) *jsonc.Value {
	out := jsonc.NewObject()
	if len(enum) > 0 && typ != "object" && typ != "array" {
		typ = "string" // the protocol has no other enums; arguments are mended
	}
	out.Set("type", jsonc.NewString(strings.ToUpper(typ)))
	switch typ {
	case "object":
		r.object(out, s)
	case "array":
		out.Set("items", r.items(s))
		copyCounts(out, s, "minItems", "maxItems")
	case "string":
		if len(enum) > 0 {
			out.Set("enum", stringList(enum))
			break
		}
		copyCounts(out, s, "minLength", "maxLength")
		if p := s.Get("pattern"); p != nil && p.Kind == jsonc.String {
			out.Set("pattern", p)
		}
	case "integer", "number":
		bound(out, s, "minimum", "exclusiveMinimum")
		bound(out, s, "maximum", "exclusiveMaximum")
	}
	if f := textOf(s, "format"); knownFormat(typ, f) {
		out.Set("format", jsonc.NewString(f))
	}
	return out
}

func knownFormat(typ, format string) bool {
	known := map[string][]string{"string": {"date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"}}
	return slices.Contains(known[typ], format)
}

// object reduces properties. Properties of alternatives are included too; the
// protocol cannot say which of them go together.
func (r *reducer) object(out, s *jsonc.Value) {
	props := jsonc.NewObject()
	r.properties(props, s)
	options, _ := alternatives(s)
	for _, o := range options {
		resolved, done := r.resolve(o)
		r.properties(props, resolved)
		done()
	}
	if len(props.Members) > 0 {
		out.Set("properties", props)
	}
	var names []string
	if req := s.Get("required"); req != nil {
		for _, e := range req.Items {
			if props.Get(e.Text) != nil && !slices.Contains(names, e.Text) {
				names = append(names, e.Text)
			}
		}
	}
	if len(names) > 0 {
		out.Set("required", stringList(names))
	}
	copyCounts(out, s, "minProperties", "maxProperties")
}

func (r *reducer) properties(out, s *jsonc.Value) {
	own := s.Get("properties")
	if own == nil {
		return
	}
	for _, m := range own.Members {
		if m.Value.Kind == jsonc.Bool && !m.Value.True || out.Get(m.Key) != nil {
			continue
		}
		out.Set(m.Key, r.schema(m.Value))
	}
}

// items reduces what a list holds; a tuple becomes a list of any of its elements.
func (r *reducer) items(s *jsonc.Value) *jsonc.Value {
	tuple := s.Get("prefixItems")
	if items := s.Get("items"); items != nil && items.Kind == jsonc.Array {
		tuple = items
	} else if items != nil && items.Kind == jsonc.Object && tuple == nil {
		if len(items.Members) == 0 {
			return typed("STRING")
		}
		return r.schema(items)
	}
	if tuple == nil || len(tuple.Items) == 0 {
		return typed("STRING")
	}
	var each []*jsonc.Value
	for _, e := range tuple.Items {
		each = append(each, r.schema(e))
	}
	return anyOf(each)
}

// resolve follows references and merges allOf, so that what is returned stands
// for itself. The caller calls done when it is finished with what is below.
func (r *reducer) resolve(s *jsonc.Value) (resolved *jsonc.Value, done func()) {
	depth := len(r.following)
	done = func() { r.following = r.following[:depth] }
	out := r.follow(s)
	for range maxRecursion + 1 { // an allOf may come with a reference
		all := out.Get("allOf")
		if all == nil {
			break
		}
		merged := without(out, "allOf")
		for _, e := range all.Items {
			if r.nodes++; r.nodes > maxNodes {
				break
			}
			merged = overlay(r.follow(e), merged)
		}
		out = merged
	}
	return out, done
}

// follow replaces a reference by its target, with what stands beside it laid over.
func (r *reducer) follow(s *jsonc.Value) *jsonc.Value {
	if s == nil || s.Kind != jsonc.Object {
		return jsonc.NewObject()
	}
	for s.Get("$ref") != nil {
		ref := textOf(s, "$ref")
		rest := without(s, "$ref")
		target := r.lookup(ref)
		again := 0
		for _, f := range r.following {
			if f == ref {
				again++
			}
		}
		if target == nil || again >= maxRecursion {
			if t := textOf(target, "type"); t != "" && rest.Get("type") == nil {
				rest.Set("type", jsonc.NewString(t))
			}
			return rest
		}
		r.following = append(r.following, ref)
		s = overlay(target, rest)
	}
	return s
}

// lookup finds the target of a reference within the schema.
func (r *reducer) lookup(ref string) *jsonc.Value {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := r.root
	for _, step := range strings.Split(path, "/")[1:] {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if i, err := strconv.Atoi(step); err == nil && at != nil && at.Kind == jsonc.Array {
			if i < 0 || i >= len(at.Items) {
				return nil
			}
			at = at.Items[i]
			continue
		}
		at = at.Get(step)
	}
	if at == nil || at.Kind != jsonc.Object {
		return nil
	}
	return at
}

// typesOf returns the types a schema allows besides null, told or inferred.
func typesOf(s *jsonc.Value) (types []string, nullable bool) {
	add := func(v *jsonc.Value) {
		switch t := strings.ToLower(v.Text); t {
		case "null":
			nullable = true
		case "object", "array", "string", "integer", "number", "boolean":
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	if n := s.Get("nullable"); n != nil && n.True {
		nullable = true
	}
	if t := s.Get("type"); t != nil && t.Kind == jsonc.String {
		add(t)
	} else if t != nil {
		for _, e := range t.Items {
			add(e)
		}
	}
	if len(types) == 0 {
		if t := inferred(s); t != "" {
			types = append(types, t)
		}
	}
	return types, nullable
}

// inferred returns the type that a schema's keywords speak of.
func inferred(s *jsonc.Value) string {
	for _, row := range []struct {
		typ  string
		keys []string
	}{
		{"object", []string{"properties", "patternProperties", "minProperties", "maxProperties"}},
		{"array", []string{"items", "prefixItems", "minItems", "maxItems"}},
		{"string", []string{"enum", "const", "pattern", "minLength", "maxLength"}},
		{"number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
	} {
		if slices.ContainsFunc(row.keys, func(k string) bool { return s.Get(k) != nil }) {
			return row.typ
		}
	}
	if s.Get("type") != nil && s.Get("anyOf") == nil && s.Get("oneOf") == nil {
		return "string" // null alone
	}
	if p := s.Get("additionalProperties"); p != nil && p.Kind == jsonc.Object {
		return "object"
	}
	return ""
}

// alternatives returns the schemas of anyOf and oneOf without null.
func alternatives(s *jsonc.Value) (list []*jsonc.Value, nullable bool) {
	for _, key := range []string{"anyOf", "oneOf"} {
		v := s.Get(key)
		if v == nil {
			continue
		}
		for _, e := range v.Items {
			if textOf(e, "type") == "null" {
				nullable = true
				continue
			}
			list = append(list, e)
		}
	}
	return list, nullable
}

// enumOf returns the values of enum or const as the strings that the protocol
// wants. Empty ones are refused and left out; values that are no scalars have no
// such form.
func enumOf(s *jsonc.Value) (values []string, nullable bool) {
	var list []*jsonc.Value
	if e := s.Get("enum"); e != nil && e.Kind == jsonc.Array {
		list = e.Items
	} else if c := s.Get("const"); c != nil {
		list = []*jsonc.Value{c}
	}
	for _, e := range list {
		text := e.Text
		switch e.Kind {
		case jsonc.Null:
			nullable = true
			continue
		case jsonc.Bool:
			text = string(e.Append(nil))
		case jsonc.Object, jsonc.Array:
			return nil, nullable
		}
		if text != "" && !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	return values, nullable
}

// anyOf joins alternatives: equal ones into one, enums into one enum. They stand
// alone, since the protocol wants nothing beside them.
func anyOf(each []*jsonc.Value) *jsonc.Value {
	var list []*jsonc.Value
	var texts [][]byte
	enum, onlyEnums := []string(nil), true
	for _, e := range each {
		text := e.Append(nil)
		if slices.ContainsFunc(texts, func(t []byte) bool { return bytes.Equal(t, text) }) {
			continue
		}
		list, texts = append(list, e), append(texts, text)
		values := e.Get("enum")
		onlyEnums = onlyEnums && values != nil && len(e.Members) == 2
		if values != nil {
			for _, v := range values.Items {
				enum = append(enum, v.Text)
			}
		}
	}
	switch {
	case len(list) == 1:
		return list[0]
	case onlyEnums:
		out := typed("STRING")
		out.Set("enum", stringList(slices.Compact(enum)))
		return out
	}
	out := jsonc.NewObject()
	out.Set("anyOf", &jsonc.Value{Kind: jsonc.Array, Items: list})
	return out
}

// anything stands for a value about which nothing is known. The protocol
// demands a type, so the plain ones are offered.
func anything() *jsonc.Value {
	return anyOf([]*jsonc.Value{typed("STRING"), typed("NUMBER"), typed("BOOLEAN")})
}

func typed(typ string) *jsonc.Value {
	out := jsonc.NewObject()
	out.Set("type", jsonc.NewString(typ))
	return out
}

// describe returns the description with what the protocol has no field for.
// Another description, of the only alternative, follows it.
func describe(s *jsonc.Value, own string) string {
	var notes []string
	types, _ := typesOf(s)
	if f := textOf(s, "format"); f != "" && len(types) == 1 && !knownFormat(types[0], f) {
		notes = append(notes, "format: "+f)
	}
	if d := s.Get("default"); d != nil && d.Kind != jsonc.Null {
		notes = append(notes, "default: "+string(d.Append(nil)))
	}
	if p := s.Get("additionalProperties"); p != nil && p.Kind == jsonc.Object && s.Get("properties") == nil {
		if t := textOf(p, "type"); t != "" {
			notes = append(notes, "any keys, values of type "+strings.ToLower(t))
		}
	}
	text := textOf(s, "description")
	if text == "" {
		text = own
	}
	if len(notes) > 0 {
		text = strings.TrimSpace(text + " (" + strings.Join(notes, "; ") + ")")
	}
	return text
}

// copyCounts copies keywords that are whole numbers and not negative.
func copyCounts(out, s *jsonc.Value, keys ...string) {
	for _, k := range keys {
		if v := s.Get(k); v != nil && v.Kind == jsonc.Number {
			if f, err := strconv.ParseFloat(v.Text, 64); err == nil && f >= 0 && f < 1<<53 && f == float64(int64(f)) {
				out.Set(k, &jsonc.Value{Kind: jsonc.Number, Text: strconv.FormatInt(int64(f), 10)})
			}
		}
	}
}

// bound copies a limit of a number; an exclusive limit becomes the nearest inclusive one.
func bound(out, s *jsonc.Value, key, exclusive string) {
	for _, k := range []string{key, exclusive} {
		if v := s.Get(k); v != nil && v.Kind == jsonc.Number {
			if _, err := strconv.ParseFloat(v.Text, 64); err == nil {
				out.Set(key, v)
				return
			}
		}
	}
}

// overlay lays one schema on top of another: properties, required and allOf are
// combined; for everything else the upper one counts.
func overlay(base, over *jsonc.Value) *jsonc.Value {
	out := clone(base)
	for _, m := range over.Members {
		have := out.Get(m.Key)
		switch {
		case have == nil || have.Kind != m.Value.Kind:
			out.Set(m.Key, m.Value)
		case m.Key == "properties" && have.Kind == jsonc.Object:
			props := clone(have)
			for _, p := range m.Value.Members {
				props.Set(p.Key, p.Value)
			}
			out.Set(m.Key, props)
		case (m.Key == "required" || m.Key == "allOf") && have.Kind == jsonc.Array:
			out.Set(m.Key, &jsonc.Value{Kind: jsonc.Array, Items: slices.Concat(have.Items, m.Value.Items)})
		default:
			out.Set(m.Key, m.Value)
		}
	}
	return out
}

// clone copies a schema's own members; what is below stays shared.
func clone(s *jsonc.Value) *jsonc.Value {
	return &jsonc.Value{Kind: jsonc.Object, Members: slices.Clone(s.Members)}
}

func without(s *jsonc.Value, key string) *jsonc.Value {
	out := clone(s)
	out.Delete(key)
	return out
}

func textOf(s *jsonc.Value, key string) string {
	if v := s.Get(key); v != nil && v.Kind == jsonc.String {
		return v.Text
	}
	return ""
}

func stringList(values []string) *jsonc.Value {
	list := &jsonc.Value{Kind: jsonc.Array}
	for _, v := range values {
		list.Items = append(list.Items, jsonc.NewString(v))
	}
	return list
}
