package jsonc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Merge returns the text with a patch merged into it: objects deeply, null removes, all
// else replaces. Comments and layout of everything else are kept; empty text counts as an
// empty object. It takes time in proportion to both.
func Merge(text []byte, patch *Value) ([]byte, error) {
	if patch.Kind != Object {
		return nil, fmt.Errorf("merge: the change is %s, not an object", patch.Kind)
	}
	return editText(text, func(root *hujson.Value) error {
		m := &merging{}
		if err := m.object(root.Value.(*hujson.Object), nil, patch); err != nil {
			return err
		}
		m.remove(root)
		return nil
	})
}

// merging is a merge on its way. What goes is removed at the end, since that moves
// members.
type merging struct{ gone [][]string }

func (m *merging) object(obj *hujson.Object, path []string, patch *Value) error {
	at := make(map[string]int, len(obj.Members)) // the last of a name counts
	for i, member := range obj.Members {
		at[member.Name.Value.(hujson.Literal).String()] = i
	}
	for _, change := range patch.Members {
		i, there := at[change.Key]
		where := append(path[:len(path):len(path)], change.Key)
		switch {
		case change.Value.Kind == Null && !there:
		case change.Value.Kind == Null:
			m.gone = append(m.gone, where)
		case there:
			if err := m.replace(&obj.Members[i].Value, where, change.Value); err != nil {
				return err
			}
		default:
			val, err := fresh(change.Value, len(where))
			if err != nil {
				return fmt.Errorf("set %s: %w", strings.Join(where, "."), err)
			}
			addMember(obj, change.Key, val, len(where))
			at[change.Key] = len(obj.Members) - 1
		}
	}
	return nil
}

// replace puts a value in the place of one that is there.
func (m *merging) replace(old *hujson.Value, path []string, change *Value) error {
	if below, ok := old.Value.(*hujson.Object); ok && change.Kind == Object && len(change.Members) > 0 {
		return m.object(below, path, change)
	}
	val, err := fresh(change, len(path))
	if err != nil {
		return fmt.Errorf("set %s: %w", strings.Join(path, "."), err)
	}
	old.Value = val.Value
	return nil
}

// fresh lays a value out as a member at a depth.
func fresh(v *Value, depth int) (hujson.Value, error) {
	val, err := hujson.Parse(bytes.Clone(v.Append(nil)))
	if err != nil {
		return val, fmt.Errorf("the value is not JSON")
	}
	layout(&val, depth)
	val.BeforeExtra, val.AfterExtra = hujson.Extra(" "), nil
	return val, nil
}

// mostCareful is how many members are removed one by one, each with the comments that
// belong to it. To find these takes a look at the whole text.
const mostCareful = 20

func (m *merging) remove(root *hujson.Value) {
	for n, path := range m.gone {
		if n == mostCareful {
			removeAll(root, m.gone[n:])
			return
		}
		if obj := walk(root, path[:len(path)-1]); obj != nil {
			deleteMember(root, obj, path)
		}
	}
}

// removeAll removes members of the same object in one go.
func removeAll(root *hujson.Value, paths [][]string) {
	for len(paths) > 0 {
		parent := paths[0][:len(paths[0])-1]
		keys := map[string]bool{}
		for len(paths) > 0 && slices.Equal(paths[0][:len(paths[0])-1], parent) {
			keys[paths[0][len(parent)]] = true
			paths = paths[1:]
		}
		if obj := walk(root, parent); obj != nil {
			obj.Members = slices.DeleteFunc(obj.Members, func(m hujson.ObjectMember) bool { return keys[m.Name.Value.(hujson.Literal).String()] })
		}
	}
}
