package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"lathe"
	"lathe/internal/jsonc"
	"lathe/internal/typo"
)

// maxShown is how many issues are listed individually.
const maxShown = 10

// Issue is something wrong with a value of a file.
type Issue struct {
	Path string // of keys, separated by dots
	Pos  jsonc.Pos
	Msg  string
}

// String returns "file:line:column: message".
func (i Issue) String() string {
	if i.Pos.IsZero() {
		return i.Msg
	}
	return i.Pos.String() + ": " + i.Msg
}

// decoder fills typed structs from trees. It collects every complaint: issues
// are type errors, warnings are unknown keys.
type decoder struct {
	home     string
	issues   []Issue
	excerpts []string // of the first issues, as many as are shown
	warnings []Issue
}

// custom is a type that decodes itself.
type custom interface {
	decode(d *decoder, v *jsonc.Value, path string)
}

func (d *decoder) fail(v *jsonc.Value, path, format string, args ...any) {
	d.issues = append(d.issues, Issue{path, v.Pos(), fmt.Sprintf("%q ", path) + fmt.Sprintf(format, args...)})
	if len(d.excerpts) == maxShown { // a line may be as long as the file
		return
	}
	excerpt := ""
	if src := v.Source(); src != nil {
		excerpt = src.ExcerptOf(v)
	}
	d.excerpts = append(d.excerpts, excerpt)
}

func (d *decoder) want(v *jsonc.Value, path, expected string) {
	d.fail(v, path, "should be %s, is %s", expected, v.Kind)
}

// err returns the issues as one error for people, or nil.
func (d *decoder) err() error {
	if len(d.issues) == 0 {
		return nil
	}
	var b strings.Builder
	for i, issue := range d.issues {
		if i == maxShown {
			fmt.Fprintf(&b, "\nand %d more", len(d.issues)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(issue.String())
		if d.excerpts[i] != "" {
			b.WriteString("\n" + d.excerpts[i])
		}
	}
	return lathe.Errorf(lathe.CodeInvalid, "correct the file; lathe config shows where each value comes from", "%s", b.String())
}

func (d *decoder) value(v *jsonc.Value, path string, dst reflect.Value) {
	if v == nil || v.Kind == jsonc.Null {
		return
	}
	if c, ok := dst.Addr().Interface().(custom); ok {
		c.decode(d, v, path)
		return
	}
	switch dst.Kind() {
	case reflect.Pointer:
		if dst.Type() == reflect.TypeFor[*jsonc.Value]() {
			dst.Set(reflect.ValueOf(v))
			return
		}
		fresh := reflect.New(dst.Type().Elem())
		before := len(d.issues)
		d.value(v, path, fresh.Elem())
		if len(d.issues) == before {
			dst.Set(fresh)
		}
	case reflect.String:
		if v.Kind != jsonc.String {
			d.want(v, path, "a string")
			return
		}
		dst.SetString(v.Text)
	case reflect.Bool:
		if v.Kind != jsonc.Bool {
			d.want(v, path, "true or false")
			return
		}
		dst.SetBool(v.True)
	case reflect.Int, reflect.Int64:
		f, err := strconv.ParseFloat(v.Text, 64)
		if v.Kind != jsonc.Number || err != nil || f != float64(int64(f)) {
			d.want(v, path, "a whole number")
			return
		}
		dst.SetInt(int64(f))
	case reflect.Float64:
		f, err := strconv.ParseFloat(v.Text, 64)
		if v.Kind != jsonc.Number || err != nil {
			d.want(v, path, "a number")
			return
		}
		dst.SetFloat(f)
	case reflect.Slice:
		d.slice(v, path, dst)
	case reflect.Map:
		d.mapping(v, path, dst)
	case reflect.Struct:
		d.object(v, path, dst)
	case reflect.Interface:
		dst.Set(reflect.ValueOf(v.Any()))
	default:
		panic("config: no rule to decode " + dst.Type().String())
	}
}

// slice decodes a list, or an object into a list of structs with a key field.
func (d *decoder) slice(v *jsonc.Value, path string, dst reflect.Value) {
	elem := dst.Type().Elem()
	if elem.Kind() == reflect.Struct && hasKey(elem) {
		if v.Kind != jsonc.Object {
			d.want(v, path, "an object")
			return
		}
		list := reflect.MakeSlice(dst.Type(), len(v.Members), len(v.Members))
		for i, m := range v.Members {
			d.keyed(m, join(path, m.Key), list.Index(i))
		}
		dst.Set(list)
		return
	}
	if v.Kind != jsonc.Array {
		d.want(v, path, "a list")
		return
	}
	list := reflect.MakeSlice(dst.Type(), len(v.Items), len(v.Items))
	for i, e := range v.Items {
		if e.Kind == jsonc.Null {
			d.want(e, join(path, strconv.Itoa(i)), "a value")
			continue
		}
		d.value(e, join(path, strconv.Itoa(i)), list.Index(i))
	}
	dst.Set(list)
}

func (d *decoder) keyed(m jsonc.Member, path string, dst reflect.Value) {
	t := dst.Type()
	for i := range t.NumField() {
		switch tag := parseTag(t.Field(i)); {
		case tag.key:
			dst.Field(i).SetString(m.Key)
		case tag.pos:
			dst.Field(i).Set(reflect.ValueOf(m.Pos()))
		case tag.scalar && m.Value.Kind == jsonc.String:
			dst.Field(i).SetString(m.Value.Text)
		}
	}
	if m.Value.Kind == jsonc.String && hasScalar(t) {
		return
	}
	d.value(m.Value, path, dst)
}

func (d *decoder) mapping(v *jsonc.Value, path string, dst reflect.Value) {
	if v.Kind != jsonc.Object {
		d.want(v, path, "an object")
		return
	}
	out := reflect.MakeMapWithSize(dst.Type(), len(v.Members))
	for _, m := range v.Members {
		elem := reflect.New(dst.Type().Elem()).Elem()
		before := len(d.issues)
		d.value(m.Value, join(path, m.Key), elem)
		if len(d.issues) == before {
			out.SetMapIndex(reflect.ValueOf(m.Key), elem)
		}
	}
	dst.Set(out)
}

func (d *decoder) object(v *jsonc.Value, path string, dst reflect.Value) {
	if v.Kind != jsonc.Object {
		d.want(v, path, "an object")
		return
	}
	t := dst.Type()
	fields := make(map[string]int, t.NumField())
	rest := -1
	for i := range t.NumField() {
		tag := parseTag(t.Field(i))
		if tag.rest {
			rest = i
		}
		if tag.name != "" && tag.name != "-" {
			fields[tag.name] = i
		}
		if tag.required && v.Get(tag.name) == nil {
			d.fail(v, path, "has no %q", tag.name)
		}
	}
	for _, m := range v.Members {
		at := join(path, m.Key)
		i, ok := fields[m.Key]
		if !ok {
			if rest < 0 {
				d.unknown(m, at, fields)
				continue
			}
			d.addRest(dst.Field(rest), m)
			continue
		}
		tag := parseTag(t.Field(i))
		if tag.kind != "" && tag.kind != kindName(m.Value.Kind) && m.Value.Kind != jsonc.Null {
			d.want(m.Value, at, map[string]string{"object": "an object", "array": "a list"}[tag.kind])
			continue
		}
		if tag.rest {
			d.mergeRest(dst.Field(i), m.Value, at)
			continue
		}
		d.value(m.Value, at, dst.Field(i))
		d.check(m.Value, at, dst.Field(i), tag)
	}
}

func (d *decoder) addRest(dst reflect.Value, m jsonc.Member) {
	if dst.IsNil() {
		dst.Set(reflect.ValueOf(map[string]any{}))
	}
	extra := dst.Interface().(map[string]any)
	if _, taken := extra[m.Key]; !taken {
		extra[m.Key] = m.Value.Any()
	}
}

// mergeRest lays an explicit map over the keys that were not known.
func (d *decoder) mergeRest(dst reflect.Value, v *jsonc.Value, path string) {
	if v.Kind != jsonc.Object {
		if v.Kind != jsonc.Null {
			d.want(v, path, "an object")
		}
		return
	}
	if dst.IsNil() {
		dst.Set(reflect.ValueOf(map[string]any{}))
	}
	for _, m := range v.Members {
		dst.Interface().(map[string]any)[m.Key] = m.Value.Any()
	}
}

func (d *decoder) check(v *jsonc.Value, path string, dst reflect.Value, tag tag) {
	if v.Kind == jsonc.String && len(tag.enum) > 0 && !slices.Contains(tag.enum, v.Text) {
		d.fail(v, path, "should be one of %s", strings.Join(tag.enum, ", "))
	}
	if v.Kind == jsonc.Number && tag.hasMin {
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil && f < float64(tag.min) {
			d.fail(v, path, "should be at least %d", tag.min)
		}
	}
}

func (d *decoder) unknown(m jsonc.Member, path string, fields map[string]int) {
	names := make([]string, 0, len(fields))
	for n := range fields {
		names = append(names, n)
	}
	msg := fmt.Sprintf("unknown key %q", path)
	if s := typo.Nearest(m.Key, names); s != "" {
		msg += fmt.Sprintf("; did you mean %q?", s)
	}
	d.warnings = append(d.warnings, Issue{path, m.Pos(), msg})
}

// tag is the meaning of a conf tag: the key's name, then options.
type tag struct {
	name, kind                       string
	key, rest, pos, scalar, required bool
	enum                             []string
	hasMin                           bool
	min                              int
}

func parseTag(f reflect.StructField) tag {
	raw := f.Tag.Get("conf")
	name, opts, _ := strings.Cut(raw, ",")
	t := tag{name: name}
	for opt := range strings.SplitSeq(opts, ",") {
		switch k, v, _ := strings.Cut(opt, "="); k {
		case "key":
			t.key = true
		case "rest":
			t.rest = true
		case "pos":
			t.pos = true
		case "scalar":
			t.scalar = true
		case "required":
			t.required = true
		case "kind":
			t.kind = v
		case "enum":
			t.enum = strings.Split(v, "|")
		case "min":
			t.hasMin = true
			t.min, _ = strconv.Atoi(v) // ours
		}
	}
	return t
}

func hasKey(t reflect.Type) bool    { return hasTag(t, func(t tag) bool { return t.key }) }
func hasScalar(t reflect.Type) bool { return hasTag(t, func(t tag) bool { return t.scalar }) }

func hasTag(t reflect.Type, ok func(tag) bool) bool {
	for i := range t.NumField() {
		if ok(parseTag(t.Field(i))) {
			return true
		}
	}
	return false
}

func kindName(k jsonc.Kind) string {
	switch k {
	case jsonc.Object:
		return "object"
	case jsonc.Array:
		return "array"
	}
	return ""
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
