package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Set returns the text with the value at a path of keys set, comments and
// layout of everything else kept. Missing objects are made; empty text counts
// as an empty object. A value on the way that is no object is an error.
func Set(text []byte, path []string, value json.RawMessage) ([]byte, error) {
	if len(path) == 0 {
		return nil, fmt.Errorf("set: the path is empty")
	}
	val, err := hujson.Parse(bytes.Clone(value))
	if err != nil {
		return nil, fmt.Errorf("set %s: the value is not JSON", strings.Join(path, "."))
	}
	return editText(text, func(root *hujson.Value) error {
		obj, err := walk(root, path[:len(path)-1], true)
		if err != nil {
			return fmt.Errorf("set %s: %w", strings.Join(path, "."), err)
		}
		layout(&val, len(path))
		val.BeforeExtra, val.AfterExtra = hujson.Extra(" "), nil
		setMember(obj, path[len(path)-1], val, len(path))
		return nil
	})
}

// Delete returns the text without the value at a path of keys. A path that does
// not exist changes nothing.
func Delete(text []byte, path []string) ([]byte, error) {
	if len(path) == 0 {
		return nil, fmt.Errorf("delete: the path is empty")
	}
	return editText(text, func(root *hujson.Value) error {
		if obj, err := walk(root, path[:len(path)-1], false); err == nil && obj != nil {
			deleteMember(root, obj, path)
		}
		return nil
	})
}

func editText(text []byte, change func(*hujson.Value) error) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	src := NewSource("text", text)
	if err := src.checkBounds(); err != nil {
		return nil, err
	}
	padded := src.parseable()
	root, err := hujson.Parse(padded)
	if err != nil {
		return nil, src.syntaxError(err)
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, src.errorAt(root.StartOffset, "expected an object")
	}
	if err := change(&root); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(root.Pack(), []byte("\n")), nil // the one parseable added
}

// walk returns the object at a path, making missing ones if create is set.
func walk(v *hujson.Value, path []string, create bool) (*hujson.Object, error) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("a value on the way is not an object")
	}
	if len(path) == 0 {
		return obj, nil
	}
	if m := find(obj, path[0]); m != nil {
		return walk(&m.Value, path[1:], create)
	}
	if !create {
		return nil, nil
	}
	depth := indentOf(v, obj)
	setMember(obj, path[0], hujson.Value{BeforeExtra: hujson.Extra(" "), Value: &hujson.Object{}}, depth)
	return walk(&find(obj, path[0]).Value, path[1:], create)
}

// indentOf is only used for an object made on the way: its own members show the
// depth when it has any, and the root has depth one.
func indentOf(_ *hujson.Value, obj *hujson.Object) int {
	if n := len(obj.Members); n > 0 {
		if ws := indentation(obj.Members[n-1].Name.BeforeExtra); ws != "" {
			return max(1, len(strings.ReplaceAll(ws, "\t", "  "))/2)
		}
	}
	return 1
}

func find(obj *hujson.Object, key string) *hujson.ObjectMember {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if obj.Members[i].Name.Value.(hujson.Literal).String() == key {
			return &obj.Members[i]
		}
	}
	return nil
}

func setMember(obj *hujson.Object, key string, val hujson.Value, depth int) {
	if m := find(obj, key); m != nil {
		m.Value.Value = val.Value
		return
	}
	indent := "\n" + strings.Repeat("  ", depth)
	closing := "\n" + strings.Repeat("  ", depth-1)
	name := hujson.Value{BeforeExtra: hujson.Extra(indent), Value: hujson.String(key)}
	n := len(obj.Members)
	if n == 0 {
		// a comment in an empty object stays above the new member
		name.BeforeExtra = append(bytes.TrimRight(obj.AfterExtra, " \t\r\n"), indent...)
		obj.AfterExtra = hujson.Extra(closing)
		obj.Members = append(obj.Members, hujson.ObjectMember{Name: name, Value: val})
		return
	}
	last := &obj.Members[n-1]
	if ws := indentation(last.Name.BeforeExtra); ws != "" || bytes.ContainsRune(last.Name.BeforeExtra, '\n') {
		indent = "\n" + ws
	} else if !bytes.ContainsRune(obj.AfterExtra, '\n') {
		indent = " "
	}
	// What stands between the last value and the brace may be a comment on that
	// value: it goes before the new member, and the brace keeps its indentation.
	trail := obj.AfterExtra
	cut := bytes.LastIndexByte(trail, '\n')
	head, tail := trail, hujson.Extra(nil)
	if cut >= 0 {
		head, tail = trail[:cut], trail[cut:]
	}
	name.BeforeExtra = append(bytes.Clone(bytes.TrimRight(head, " \t\r\n")), indent...)
	if last.Value.AfterExtra != nil { // a trailing comma was written: keep the habit
		val.AfterExtra = hujson.Extra{}
	}
	if len(tail) == 0 && bytes.ContainsRune(name.BeforeExtra, '\n') {
		tail = hujson.Extra(closing)
	}
	obj.AfterExtra = tail
	obj.Members = append(obj.Members, hujson.ObjectMember{Name: name, Value: val})
}

// indentation returns the white space between the last line break and the name.
func indentation(before hujson.Extra) string {
	i := bytes.LastIndexByte(before, '\n')
	if i < 0 {
		return ""
	}
	ws := before[i+1:]
	if len(bytes.TrimLeft(ws, " \t")) > 0 {
		return ""
	}
	return string(ws)
}

// deleteMember removes a member through a patch, which knows which comments
// belong to it. Written twice, both go.
func deleteMember(root *hujson.Value, obj *hujson.Object, path []string) {
	var ptr strings.Builder
	for _, k := range path {
		ptr.WriteByte('/')
		ptr.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(k))
	}
	patch := append([]byte(`[{"op":"remove","path":`), quote(ptr.String())...)
	patch = append(patch, `}]`...)
	key, more := path[len(path)-1], -1
	is := func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == key }
	for _, m := range obj.Members {
		if is(m) {
			more++
		}
	}
	if more < 0 {
		return
	}
	if more > 0 { // only the last one counts
		obj.Members = slices.DeleteFunc(obj.Members, func(m hujson.ObjectMember) bool {
			if more == 0 || !is(m) {
				return false
			}
			more--
			return true
		})
	}
	if n := len(obj.Members); root.Patch(patch) != nil || len(obj.Members) >= n {
		obj.Members = slices.DeleteFunc(obj.Members, is)
	}
}

// layout puts each member of a fresh object on a line of its own.
func layout(v *hujson.Value, depth int) {
	switch t := v.Value.(type) {
	case *hujson.Object:
		for i := range t.Members {
			m := &t.Members[i]
			m.Name.BeforeExtra = hujson.Extra("\n" + strings.Repeat("  ", depth+1))
			m.Name.AfterExtra, m.Value.AfterExtra = nil, nil
			layout(&m.Value, depth+1)
			m.Value.BeforeExtra = hujson.Extra(" ")
		}
		t.AfterExtra = nil
		if len(t.Members) > 0 {
			t.AfterExtra = hujson.Extra("\n" + strings.Repeat("  ", depth))
		}
	case *hujson.Array:
		for i := range t.Elements {
			layout(&t.Elements[i], depth+1)
			t.Elements[i].BeforeExtra, t.Elements[i].AfterExtra = nil, nil
			if i > 0 {
				t.Elements[i].BeforeExtra = hujson.Extra(" ")
			}
		}
		t.AfterExtra = nil
	}
}
