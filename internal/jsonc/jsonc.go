// Package jsonc reads and edits JSON with comments and trailing commas. It
// keeps what encoding/json forgets: the order of keys (permission rules depend
// on it) and where each value was written, so that a complaint can name the
// file, the line and the column. Edits keep comments and layout.
//
// Input is bounded in size and depth. Values are plain trees; a function that
// changes one says so.
package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// Bounds of what Parse accepts.
const (
	MaxSize  = 8 << 20
	MaxDepth = 128
)

// Kind is the kind of a Value.
type Kind byte

// Kinds of a Value. The zero Value is null.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the kind as people call it.
func (k Kind) String() string {
	switch k {
	case Bool:
		return "true or false"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "a list"
	case Object:
		return "an object"
	}
	return "null"
}

// Value is one JSON value and where it was written.
type Value struct {
	Kind    Kind
	Text    string   // of a string: its content; of a number: its digits
	True    bool     // of a Bool
	Items   []*Value // of an Array
	Members []Member // of an Object, in written order, keys unique

	index *index // of an Object with many members; may be nil or out of date

	src *Source
	off int
}

// Member is one key of an object and its value.
type Member struct {
	Key   string
	Value *Value

	src *Source
	off int
}

// Pos returns where the value was written; the zero Pos when it was not read
// from a source.
func (v *Value) Pos() Pos { return v.src.Pos(v.off) }

// Pos returns where the key was written.
func (m Member) Pos() Pos { return m.src.Pos(m.off) }

// At sets where the value counts as written and returns it.
func (v *Value) At(src *Source, off int) *Value {
	v.src, v.off = src, off
	return v
}

// Source returns the source the value was read from, or nil.
func (v *Value) Source() *Source { return v.src }

// Parse reads one JSON value with comments and trailing commas. Empty input
// (or nothing but comments) is an error. A failure is a *SyntaxError.
func Parse(name string, text []byte) (*Value, error) {
	return NewSource(name, text).Parse()
}

// Parse reads the source as one value; see the function [Parse].
func (s *Source) Parse() (*Value, error) {
	if err := s.checkBounds(); err != nil {
		return nil, err
	}
	tree, err := hujson.Parse(s.parseable())
	if err != nil {
		return nil, s.syntaxError(err)
	}
	return s.convert(tree), nil
}

// parseable returns the text with a final newline, which the parser wants after
// a line comment at the end of the input, and a byte order mark blanked out.
func (s *Source) parseable() []byte {
	text := append(bytes.Clone(s.text), '\n')
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		copy(text, "   ")
	}
	return text
}

func (s *Source) convert(h hujson.Value) *Value {
	v := &Value{src: s, off: h.StartOffset}
	switch t := h.Value.(type) {
	case *hujson.Object:
		v.Kind = Object
		v.Members = make([]Member, 0, len(t.Members))
		index := make(map[string]int, len(t.Members))
		for _, m := range t.Members {
			key := m.Name.Value.(hujson.Literal).String()
			member := Member{key, s.convert(m.Value), s, m.Name.StartOffset}
			if i, dup := index[key]; dup {
				v.Members[i] = member // as in JSON.parse: first place, last value
				continue
			}
			index[key] = len(v.Members)
			v.Members = append(v.Members, member)
		}
		v.reindex()
	case *hujson.Array:
		v.Kind = Array
		v.Items = make([]*Value, len(t.Elements))
		for i, e := range t.Elements {
			v.Items[i] = s.convert(e)
		}
	case hujson.Literal:
		v.setLiteral(t)
	}
	return v
}

func (v *Value) setLiteral(l hujson.Literal) {
	switch l.Kind() {
	case 't', 'f':
		v.Kind, v.True = Bool, l.Bool()
	case '"':
		v.Kind, v.Text = String, l.String()
	case '0':
		v.Kind, v.Text = Number, string(l)
	}
}

// checkBounds refuses input that is too large or nested too deeply, before the
// recursive parser sees it.
func (s *Source) checkBounds() error {
	if len(s.text) > MaxSize {
		return &SyntaxError{Pos: Pos{File: s.name, Line: 1, Column: 1},
			Msg: fmt.Sprintf("%d bytes are more than the limit of %d", len(s.text), MaxSize)}
	}
	depth := 0
	sc := scanner{text: s.text}
	for sc.next() {
		switch sc.tok {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return s.errorAt(sc.start, fmt.Sprintf("nested more than %d deep", MaxDepth))
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}

// SyntaxError says where a text is not JSON. Excerpt is the offending line and
// a caret below the place.
type SyntaxError struct {
	Pos     Pos
	Msg     string
	Excerpt string
}

// Error returns the place, what is wrong there, and the line with a caret.
func (e *SyntaxError) Error() string {
	s := e.Pos.String() + ": " + e.Msg
	if e.Excerpt != "" {
		s += "\n" + e.Excerpt
	}
	return s
}

func (s *Source) errorAt(off int, msg string) *SyntaxError {
	return &SyntaxError{Pos: s.Pos(off), Msg: msg, Excerpt: s.Excerpt(off)}
}

func (s *Source) syntaxError(err error) error {
	line, col := 1, 1
	msg := err.Error()
	if _, e := fmt.Sscanf(msg, "hujson: line %d, column %d:", &line, &col); e == nil {
		_, msg, _ = strings.Cut(msg, ": ")
		_, msg, _ = strings.Cut(msg, ": ")
	}
	off := s.offset(line, col)
	if strings.Contains(msg, "unexpected EOF") || errors.Unwrap(err) != nil && off >= len(s.text) {
		msg = "the text ends before the value is complete"
	}
	if i := strings.Index(msg, "invalid literal: "); i >= 0 {
		msg = "not a JSON value" // the literal may be a secret
	}
	return s.errorAt(off, msg)
}

// Get returns the value of a key, or nil when v is no object or has no such key.
func (v *Value) Get(key string) *Value {
	if i := v.find(key); i >= 0 {
		return v.Members[i].Value
	}
	return nil
}

// Path returns the value below the keys, or nil.
func (v *Value) Path(keys ...string) *Value {
	for _, k := range keys {
		v = v.Get(k)
	}
	return v
}

// Set makes key hold the value: in its old place, or after all others. The key
// counts as written where the value is.
func (v *Value) Set(key string, val *Value) { v.Put(Member{key, val, val.src, val.off}) }

// Put is Set for a member of another object; it keeps where the key was written.
func (v *Value) Put(m Member) {
	v.reindex()
	if i := v.find(m.Key); i >= 0 {
		v.Members[i] = m
		return
	}
	v.add(m)
}

// Rename gives a member another key, which the object must not have yet.
func (v *Value) Rename(from, to string) {
	if i := v.find(from); i >= 0 {
		v.Members[i].Key = to
		v.index = nil
	}
}

// Delete removes a key and returns what it held, or nil.
func (v *Value) Delete(key string) *Value {
	i := v.find(key)
	if i < 0 {
		return nil
	}
	old := v.Members[i].Value
	v.Members = append(v.Members[:i:i], v.Members[i+1:]...)
	v.index = nil
	return old
}

// Clone returns a deep copy.
func (v *Value) Clone() *Value {
	if v == nil {
		return nil
	}
	c := *v
	c.Items = make([]*Value, len(v.Items))
	for i, e := range v.Items {
		c.Items[i] = e.Clone()
	}
	c.Members = make([]Member, len(v.Members))
	for i, m := range v.Members {
		m.Value = m.Value.Clone()
		c.Members[i] = m
	}
	c.reindex()
	return &c
}

// MarshalJSON returns plain JSON with the keys in their order.
func (v *Value) MarshalJSON() ([]byte, error) { return v.Append(nil), nil }

// Append appends plain JSON with the keys in their order.
func (v *Value) Append(b []byte) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	switch v.Kind {
	case Bool:
		if v.True {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case Number:
		return append(b, v.Text...)
	case String:
		return append(b, quote(v.Text)...)
	case Array:
		b = append(b, '[')
		for i, e := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.Append(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, quote(m.Key)...), ':')
			b = m.Value.Append(b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// quote returns a JSON string. Invalid UTF-8 becomes U+FFFD.
func quote(s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// Any returns the value as encoding/json would decode it into an any: objects
// as map[string]any and numbers as float64.
func (v *Value) Any() any {
	if v == nil {
		return nil
	}
	switch v.Kind {
	case Bool:
		return v.True
	case Number:
		var f float64
		if json.Unmarshal([]byte(v.Text), &f) != nil {
			return json.Number(v.Text) // beyond float64
		}
		return f
	case String:
		return v.Text
	case Array:
		list := make([]any, len(v.Items))
		for i, e := range v.Items {
			list[i] = e.Any()
		}
		return list
	case Object:
		return v.Map()
	}
	return nil
}

// Map returns an object as a map; nil when v is no object.
func (v *Value) Map() map[string]any {
	if v == nil || v.Kind != Object {
		return nil
	}
	m := make(map[string]any, len(v.Members))
	for _, e := range v.Members {
		m[e.Key] = e.Value.Any()
	}
	return m
}

// NewObject returns an empty object.
func NewObject() *Value { return &Value{Kind: Object} }

// NewString returns a string.
func NewString(s string) *Value { return &Value{Kind: String, Text: s} }

// NewBool returns true or false.
func NewBool(b bool) *Value { return &Value{Kind: Bool, True: b} }

// AtOf makes the value count as written where o is and returns it.
func (v *Value) AtOf(o *Value) *Value {
	v.src, v.off = o.src, o.off
	return v
}
