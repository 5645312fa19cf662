package adapter

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Scan walks a JSON document without building anything: the fast path for the
// one kind of event that a stream has thousands of. Whatever it does not expect
// makes it fail, and the caller then decodes the document with [Decode].
//
//	for s.Open('{'); s.More('}'); {
//		switch string(s.Key()) {
//		case "text":
//			text = s.String()
//		default:
//			s.Skip()
//		}
//	}
type Scan struct {
	data  []byte
	pos   int
	fresh bool // just behind an opening bracket
	bad   bool
}

// NewScan returns a Scan at the start of a document.
func NewScan(data []byte) Scan { return Scan{data: data} }

// Fail makes the scan fail.
func (s *Scan) Fail() { s.bad = true }

// Done reports whether the whole document was walked without a failure.
func (s *Scan) Done() bool { return s.peek() == 0 && s.pos == len(s.data) && !s.bad }

// peek returns the next byte that is not white space, or 0.
func (s *Scan) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// Open enters an object or array.
func (s *Scan) Open(bracket byte) {
	if s.bad || s.peek() != bracket {
		s.bad = true
		return
	}
	s.pos++
	s.fresh = true
}

// More reports whether another member or element follows, and leaves the
// object or array if none does.
func (s *Scan) More(bracket byte) bool {
	if s.bad {
		return false
	}
	c := s.peek()
	switch {
	case c == bracket:
		s.pos++
		s.fresh = false
		return false
	case s.fresh:
		s.fresh = false
		s.bad = c == 0
		return !s.bad
	case c == ',':
		s.pos++
		if next := s.peek(); next == bracket || next == 0 {
			s.bad = true
		}
		return !s.bad
	}
	s.bad = true
	return false
}

// Key returns the name of the next member.
func (s *Scan) Key() []byte {
	raw := s.quoted()
	if s.peek() != ':' || bytes.IndexByte(raw, '\\') >= 0 {
		s.bad = true
		return nil
	}
	s.pos++
	return raw
}

// quoted returns what stands between quotes, escapes and all.
func (s *Scan) quoted() []byte {
	if s.bad || s.peek() != '"' {
		s.bad = true
		return nil
	}
	start := s.pos + 1
	for i := start; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return s.data[start:i]
		case c == '\\':
			i++
		case c < ' ':
			s.bad = true
			return nil
		}
	}
	s.bad = true
	return nil
}

// String returns the next value, which is a string or null.
func (s *Scan) String() string {
	if s.Null() {
		return ""
	}
	start := s.pos
	raw := s.quoted()
	if s.bad || bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var text string
	if json.Unmarshal(s.data[start:s.pos], &text) != nil {
		s.bad = true
	}
	return text
}

// Is reports whether the next value is this string.
func (s *Scan) Is(want string) bool { return string(s.quoted()) == want && !s.bad }

// Null skips the next value and returns true if it is null.
func (s *Scan) Null() bool {
	if s.bad || s.peek() != 'n' || !bytes.HasPrefix(s.data[s.pos:], []byte("null")) {
		return false
	}
	s.pos += len("null")
	return true
}

// Int returns the next value, which is a whole number.
func (s *Scan) Int() int {
	s.peek()
	start := s.pos
	s.bare()
	n, err := strconv.Atoi(string(s.data[start:s.pos]))
	if err != nil {
		s.bad = true
	}
	return n
}

// bare skips a number or literal.
func (s *Scan) bare() {
	start := s.pos
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E' {
			s.pos++
			continue
		}
		break
	}
	if s.pos == start || !json.Valid(s.data[start:s.pos]) {
		s.bad = true
	}
}

// Skip passes over the next value. Objects and arrays in it may not nest more
// than 32 deep.
func (s *Scan) Skip() { s.skip(32) }

func (s *Scan) skip(depth int) {
	switch c := s.peek(); {
	case s.bad || depth == 0:
		s.bad = true
	case c == '"':
		s.quoted()
	case c == '{':
		for s.Open('{'); s.More('}'); {
			s.Key()
			s.skip(depth - 1)
		}
	case c == '[':
		for s.Open('['); s.More(']'); {
			s.skip(depth - 1)
		}
	default:
		s.bare()
	}
}
