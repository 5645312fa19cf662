package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
)

// maxPlaceholder bounds the length of one placeholder.
const maxPlaceholder = 4096

// Expand replaces placeholders of the form {name:argument} whose name is one of
// names, and returns a source whose positions are still those of the text as
// written. The result is at most [MaxSize] long. Within a string the replacement is escaped, so it cannot end the
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
	ends   int // where the next end of a placeholder or of a line is, see end
}

// end returns the offset of the first closing brace or line end from i on, or the
// length of the text. Asked for growing offsets it reads the text once.
func (x *expander) end(i int) int {
	if x.ends < i || x.ends == 0 {
		x.ends = len(x.s.text)
		if j := bytes.IndexAny(x.s.text[i:], "}\n"); j >= 0 {
			x.ends = i + j
		}
	}
	return x.ends
}

// find reports the placeholder that starts at offset i, if there is one.
func (x *expander) find(i, limit int) (name, arg string, end int, ok bool) {
	for _, n := range x.names {
		open := "{" + n + ":"
		limit := min(limit, i+maxPlaceholder)
		if !bytes.HasPrefix(x.s.text[i:limit], []byte(open)) {
			continue
		}
		if j := x.end(i); j < limit && x.s.text[j] == '}' {
			return n, string(x.s.text[i+len(open) : j]), j + 1, true
		}
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
		if err := x.replace(i, stop, q[1:len(q)-1]); err != nil {
			return err
		}
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
	if err := x.replace(sc.start, stop, repl); err != nil {
		return err
	}
	sc.end = stop
	return nil
}

func (sc *scanner) tok0() byte { return sc.text[sc.start] }

func scalar(val string) bool {
	return val != "" && val[0] != '"' && val[0] != '{' && val[0] != '[' && json.Valid([]byte(val))
}

// replace writes a replacement. A short file can name a long one many times.
func (x *expander) replace(start, stop int, repl []byte) error {
	at := len(x.out.text)
	if at+len(repl) > MaxSize {
		return x.s.errorAt(start, fmt.Sprintf("with what placeholders stand for it is more than %d bytes", MaxSize))
	}
	x.out.text = append(x.out.text, repl...)
	x.out.edits = append(x.out.edits, edit{at, len(x.out.text), len(x.out.text) - stop})
	return nil
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
	edits := v.src.edits
	i := sort.Search(len(edits), func(i int) bool { return edits[i].at >= v.off })
	return i < len(edits) && edits[i].at < v.off+max(sc.end, 1)
}
