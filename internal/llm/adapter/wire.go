package adapter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/llm"
)

// AttachedMedia is the text above media that were moved out of a tool result
// into a user message, for protocols whose results are text alone.
const AttachedMedia = "Attached media from tool result:"

// Unsendable is the text in place of media that a protocol cannot carry.
func Unsendable(m llm.Media) string {
	name := m.Name
	if name == "" {
		name = "the attached file"
	}
	return fmt.Sprintf("ERROR: Cannot read %q (%s cannot be sent to this model). Inform the user.", name, m.MIME)
}

// OnlyReasoning reports whether a message holds no content but reasoning; no
// protocol takes such an answer.
func OnlyReasoning(m llm.Message) bool {
	return !slices.ContainsFunc(m.Content, func(c llm.Content) bool {
		_, ok := c.(llm.Reasoning)
		return !ok
	})
}

// CallIDs gives tool calls and their results the identifiers that a protocol
// takes. Feed it the conversation in order; the same conversation gives the
// same identifiers, and a longer one keeps those of its beginning.
type CallIDs struct {
	clean   func(string) string
	used    map[string]bool
	waiting map[string][]string // by original id, calls that wait for a result
}

// NewCallIDs returns an empty CallIDs; clean maps an identifier to one of the
// protocol's alphabet.
func NewCallIDs(clean func(string) string) *CallIDs {
	return &CallIDs{clean: clean, used: map[string]bool{}, waiting: map[string][]string{}}
}

// Call returns the identifier to send for a call.
func (c *CallIDs) Call(id string) string {
	base := c.clean(id)
	wire := base
	for n := 2; wire == "" || c.used[wire]; n++ {
		wire = fmt.Sprintf("%s_%d", base, n)
	}
	c.used[wire] = true
	c.waiting[id] = append(c.waiting[id], wire)
	return wire
}

// Result returns the identifier to send for a result: that of the oldest call
// with the same original identifier that has none yet.
func (c *CallIDs) Result(id string) string {
	queue := c.waiting[id]
	if len(queue) == 0 {
		return c.clean(id)
	}
	c.waiting[id] = queue[1:]
	return queue[0]
}

// SafeID replaces what is not a letter, digit, "_" or "-" by "_".
func SafeID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// OwnMeta decodes what protocol attached to a block into v, if the block came
// from the request's own origin.
func OwnMeta(r *llm.Request, protocol, origin string, meta map[string]json.RawMessage, v any) bool {
	raw, ok := meta[protocol]
	return ok && origin == r.Origin && json.Unmarshal(raw, v) == nil
}

// Size estimates the bytes of the request's body, to make room for it at once.
func Size(r *llm.Request) int {
	n := 1024
	for _, s := range r.System {
		n += len(s) + len(s)/16
	}
	for _, t := range r.Tools {
		n += len(t.Description) + len(t.Schema) + 100
	}
	for _, m := range r.Messages {
		for _, c := range m.Content {
			n += 100 + contentSize(c)
		}
	}
	return n
}

func contentSize(c llm.Content) int {
	switch c := c.(type) {
	case llm.Text:
		return len(c.Text) + len(c.Text)/16
	case llm.Reasoning:
		n := len(c.Text) + len(c.Text)/16
		for _, raw := range c.Meta {
			n += len(raw)
		}
		return n
	case llm.Media:
		return len(c.Data)*4/3 + len(c.URL)
	case llm.ToolUse:
		return len(c.Input) + len(c.Input)/8
	case llm.ToolResult:
		n := len(c.Output) + len(c.Output)/16
		for _, m := range c.Media {
			n += len(m.Data) * 4 / 3
		}
		return n
	}
	return 0
}

// Options is a request's options while an adapter takes those that it knows;
// the rest is sent as it is.
type Options map[string]any

// TakeOptions returns the request's options, with unset ones left out, as a map
// that can be changed.
func TakeOptions(r *llm.Request) Options {
	o := make(Options, len(r.Options))
	for name, v := range r.Options {
		if v != nil {
			o[name] = v
		}
	}
	return o
}

// Rename sends an option under the protocol's name, unless that name is set too.
func (o Options) Rename(names map[string]string) {
	for from, to := range names {
		if v, ok := o[from]; ok {
			delete(o, from)
			if _, taken := o[to]; !taken {
				o[to] = v
			}
		}
	}
}

// Take removes an option and returns it.
func (o Options) Take(name string) (any, bool) {
	v, ok := o[name]
	delete(o, name)
	return v, ok
}

// TakeString removes an option and returns it if it is a string.
func (o Options) TakeString(name string) string {
	v, _ := o.Take(name)
	s, _ := v.(string)
	return s
}

// TakeBool removes an option and returns it if it is true or false, else fallback.
func (o Options) TakeBool(name string, fallback bool) bool {
	v, ok := o.Take(name)
	if b, isBool := v.(bool); ok && isBool {
		return b
	}
	return fallback
}

// Default sets an option that is not set.
func (o Options) Default(name string, v any) {
	if _, ok := o[name]; !ok {
		o[name] = v
	}
}

// Put sets a field of an option that is an object, without changing the
// caller's map.
func (o Options) Put(name, field string, v any) {
	old, _ := o[name].(map[string]any)
	object := make(map[string]any, len(old)+1)
	for k, x := range old {
		object[k] = x
	}
	if _, taken := object[field]; !taken {
		object[field] = v
	}
	o[name] = object
}

// Number returns an option's value as a whole number, however JSON or YAML
// decoded it.
func Number(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	case uint64:
		return int(n), true
	case float64:
		return int(n), true
	case json.Number:
		i, err := n.Int64()
		return int(i), err == nil
	}
	return 0, false
}

// SnakeKeys returns v with the keys of its objects in snake_case, for options
// that are objects.
func SnakeKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[snake(k)] = SnakeKeys(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = SnakeKeys(x)
		}
		return out
	}
	return v
}

func snake(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
