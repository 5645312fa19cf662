package jsonc

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Pos is a place in a file. Line and Column count from 1, columns in bytes.
type Pos struct {
	File         string
	Line, Column int
}

// String returns "file:line:column", the form editors understand.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// IsZero reports whether the place is unknown.
func (p Pos) IsZero() bool { return p == Pos{} }

// Source is a named text. Values point back into it. It is immutable and safe
// for concurrent use.
type Source struct {
	name  string
	text  []byte
	edits []edit // placeholders that Expand replaced, in order
	orig  *Source

	once  sync.Once
	lines []int // offsets of line starts, made on first use
}

// edit says that from offset at on the expanded text is ahead of the written
// one by delta bytes; offsets within the replacement count as its start.
type edit struct{ at, end, delta int }

// NewSource returns a source. The text must not be changed afterwards.
func NewSource(name string, text []byte) *Source {
	return &Source{name: name, text: text}
}

// Name returns the name given to NewSource.
func (s *Source) Name() string {
	if s == nil {
		return ""
	}
	return s.name
}

// Pos returns the place of an offset, as written before any expansion.
func (s *Source) Pos(off int) Pos {
	if s == nil {
		return Pos{}
	}
	if s.orig != nil {
		return s.orig.Pos(s.written(off))
	}
	starts := s.lineStarts()
	off = max(0, min(off, len(s.text)))
	line := sort.SearchInts(starts, off+1)
	return Pos{s.name, line, off - starts[line-1] + 1}
}

// written maps an offset of the expanded text to the text as written.
func (s *Source) written(off int) int {
	i := sort.Search(len(s.edits), func(i int) bool { return s.edits[i].at > off }) - 1
	if i < 0 {
		return off
	}
	e := s.edits[i]
	if off < e.end {
		before := 0
		if i > 0 {
			before = s.edits[i-1].delta
		}
		return e.at - before
	}
	return off - e.delta
}

func (s *Source) lineStarts() []int {
	s.once.Do(func() {
		s.lines = []int{0}
		for i, c := range s.text {
			if c == '\n' {
				s.lines = append(s.lines, i+1)
			}
		}
	})
	return s.lines
}

// Offset returns the offset of a line and a column, both from 1, moved into the
// text where they lie outside.
func (s *Source) Offset(line, col int) int { return s.offset(line, col) }

func (s *Source) offset(line, col int) int {
	starts := s.lineStarts()
	if line > len(starts) {
		return len(s.text)
	}
	line = max(1, line)
	return max(0, min(starts[line-1]+col-1, len(s.text)))
}

const excerptWidth = 100

// Excerpt returns the line of an offset with a caret below it. Long lines are
// cut around the place, control characters are shown as spaces, and values of
// keys that look like credentials are masked.
func (s *Source) Excerpt(off int) string {
	if s == nil {
		return ""
	}
	if s.orig != nil {
		return s.orig.Excerpt(s.written(off))
	}
	off = max(0, min(off, len(s.text)))
	start := bytes.LastIndexByte(s.text[:off], '\n') + 1
	end := len(s.text)
	if i := bytes.IndexByte(s.text[off:], '\n'); i >= 0 {
		end = off + i
	}
	from := max(start, off-excerptWidth/2)
	for from > start && !utf8.RuneStart(s.text[from]) {
		from--
	}
	to := min(end, from+excerptWidth)
	for to < end && !utf8.RuneStart(s.text[to]) {
		to++
	}
	if secretLine(s.text[start:end]) {
		return ""
	}
	before, after := printable(s.text[from:off]), printable(s.text[off:to])
	return "    " + before + strings.TrimRight(after, " ") + "\n    " +
		strings.Repeat(" ", utf8.RuneCountInString(before)) + "^"
}

// secretLine reports whether a line seems to hold a credential; such a line is
// not quoted in messages, which may end up in a log.
func secretLine(line []byte) bool {
	low := strings.ToLower(string(line))
	for _, word := range []string{"key", "token", "secret", "passw", "authorization", "bearer"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}

func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(b), "\uFFFD"))
}

// scanner splits text into strings, comments and everything else, byte by byte.
// It never fails; broken text gives some tokens.
type scanner struct {
	text       []byte
	start, end int  // of the current token
	tok        byte // its first byte; '/' is a comment, '"' a string
}

func (sc *scanner) next() bool {
	i := sc.end
	if i >= len(sc.text) {
		return false
	}
	sc.start, sc.tok, sc.end = i, sc.text[i], i+1
	rest := sc.text[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		sc.end = i + until(rest, "\n", 2)
	case bytes.HasPrefix(rest, []byte("/*")):
		sc.end = i + until(rest, "*/", 2)
	case rest[0] == '/':
		sc.tok = 0
	case rest[0] == '"':
		sc.end = i + stringEnd(rest)
	}
	return true
}

func until(b []byte, end string, from int) int {
	if j := bytes.Index(b[from:], []byte(end)); j >= 0 {
		return from + j + len(end)
	}
	return len(b)
}

func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// ExcerptOf returns the line of a value of this source with a caret below it;
// see Excerpt.
func (s *Source) ExcerptOf(v *Value) string { return s.Excerpt(v.off) }
