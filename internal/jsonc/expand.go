package jsonc

import (
	"bytes"
	"encoding/json"
)

// maxPlaceholder bounds the length of one placeholder.
const maxPlaceholder = 4096

// Expand replaces placeholders of the form {name:argument} whose name is one of
// names, and returns a source whose positions are still those of the text as
// written. Within a string the replacement is escaped, so it cannot end the
// string; elsewhere it stands as it is when it is a number, true, false or
// null, and as a string otherwise. Comments are left alone. The first error of
// fn ends it.
func (s *Source) Expand(names []string, fn func(name, arg string, at Pos) (string, error)) (*Source, error) {
	if !bytes.ContainsRune(s.text, '{') || !containsAny(s.text, names) {
		return s, nil
	}
	out := &Source{name: s.name, orig: s}
	x := expander{s: s, out: out, names: names, fn: fn}
	sc := scanner{text: s.text}
	for sc.next() {
		var err error
		switch sc.tok {
		case '/':
			out.text = append(out.text, s.text[sc.start:sc.end]...)
		case '"':
			err = x.inString(sc.start, sc.end)
		default:
			err = x.bare(&sc)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func containsAny(text []byte, names []string) bool {
	for _, n := range names {
		if bytes.Contains(text, []byte("{"+n+":")) {
			return true
		}
	}
	return false
}

type expander struct {
	s, out *Source
	names  []string
	fn     func(name, arg string, at Pos) (string, error)
}

// find reports the placeholder that starts at offset i, if there is one.
func (x *expander) find(i, limit int) (name, arg string, end int, ok bool) {
	for _, n := range x.names {
		rest := x.s.text[i:min(limit, i+maxPlaceholder)]
		if !bytes.HasPrefix(rest, []byte("{"+n+":")) {
			continue
		}
		j := bytes.IndexAny(rest, "}\n")
		if j < 0 || rest[j] != '}' {
			continue
		}
		return n, string(rest[len(n)+2 : j]), i + j + 1, true
	}
	return "", "", 0, false
}

func (x *expander) inString(start, end int) error {
	for i := start; i < end; {
		name, arg, stop, ok := "", "", 0, false
		if x.s.text[i] == '{' {
			name, arg, stop, ok = x.find(i, end)
		}
		if !ok {
			x.out.text = append(x.out.text, x.s.text[i])
			i++
			continue
		}
		val, err := x.fn(name, unescape(arg), x.s.Pos(i))
		if err != nil {
			return err
		}
		q := quote(val)
		x.replace(i, stop, q[1:len(q)-1])
		i = stop
	}
	return nil
}

// unescape undoes JSON escapes in the argument of a placeholder in a string.
func unescape(arg string) string {
	var s string
	if json.Unmarshal([]byte(`"`+arg+`"`), &s) != nil {
		return arg
	}
	return s
}

func (x *expander) bare(sc *scanner) error {
	name, arg, stop, ok := x.find(sc.start, len(x.s.text))
	if !ok {
		x.out.text = append(x.out.text, sc.tok0())
		return nil
	}
	val, err := x.fn(name, arg, x.s.Pos(sc.start))
	if err != nil {
		return err
	}
	repl := quote(val)
	if scalar(val) {
		repl = []byte(val)
	}
	x.replace(sc.start, stop, repl)
	sc.end = stop
	return nil
}

func (sc *scanner) tok0() byte { return sc.text[sc.start] }

func scalar(val string) bool {
	return val != "" && val[0] != '"' && val[0] != '{' && val[0] != '[' && json.Valid([]byte(val))
}

func (x *expander) replace(start, stop int, repl []byte) {
	at := len(x.out.text)
	x.out.text = append(x.out.text, repl...)
	x.out.edits = append(x.out.edits, edit{at, len(x.out.text), len(x.out.text) - stop})
}

// Expanded reports whether any of a string, or the whole of a number or a word, came
// from a placeholder that [Source.Expand] replaced.
func (v *Value) Expanded() bool {
	if v.src == nil || len(v.src.edits) == 0 || v.Kind == Object || v.Kind == Array {
		return false
	}
	sc := scanner{text: v.src.text[min(v.off, len(v.src.text)):]}
	if !sc.next() {
		return false
	}
	end := v.off + max(sc.end, 1)
	for _, e := range v.src.edits {
		if e.at >= v.off && e.at < end {
			return true
		}
	}
	return false
}
