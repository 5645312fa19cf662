package jsonc

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// editText changes a text through its tree.
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

// walk returns the object at a path, or nil.
func walk(v *hujson.Value, path []string) *hujson.Object {
	obj, ok := v.Value.(*hujson.Object)
	if !ok || len(path) == 0 {
		return obj
	}
	m := find(obj, path[0])
	if m == nil {
		return nil
	}
	return walk(&m.Value, path[1:])
}

func find(obj *hujson.Object, key string) *hujson.ObjectMember {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if obj.Members[i].Name.Value.(hujson.Literal).String() == key {
			return &obj.Members[i]
		}
	}
	return nil
}

// addMember adds a member that the object does not have, laid out as those are that it has.
func addMember(obj *hujson.Object, key string, val hujson.Value, depth int) {
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
