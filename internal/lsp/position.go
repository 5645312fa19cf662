package lsp

import (
	"strings"
	"unicode/utf8"
)

// Position is a place in a text. Both count from 0; Character counts UTF-16 units, as
// clients of lathe expect, whatever the server counts.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is from Start up to End, which is not part of it.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Before reports whether a place comes before another.
func (p Position) Before(q Position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Character < q.Character
}

// encoding is what a server counts within a line.
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
	utf32Units encoding = "utf-32"
)

// width is how many units of a line a rune takes.
func (e encoding) width(r rune, bytes int) int {
	switch {
	case e == utf8Units:
		return bytes
	case e == utf32Units || r < 0x10000:
		return 1
	}
	return 2
}

// offset converts a number of units to a byte offset in a line, at most its length.
func (e encoding) offset(line string, units int) int {
	at := 0
	for at < len(line) && units > 0 {
		r, n := utf8.DecodeRuneInString(line[at:])
		units -= e.width(r, n)
		at += n
	}
	return at
}

// units converts a byte offset in a line to a number of units.
func (e encoding) units(line string, offset int) (units int) {
	for at := 0; at < min(offset, len(line)); {
		r, n := utf8.DecodeRuneInString(line[at:])
		units += e.width(r, n)
		at += n
	}
	return units
}

// convert turns a character count of one encoding into another's.
func convert(line string, character int, from, to encoding) int {
	if from == to || character <= 0 {
		return max(character, 0)
	}
	return to.units(line, from.offset(line, character))
}

// lines are the lines of a text without their ends, which are LF, CRLF or CR.
type lines []string

func linesOf(text string) lines {
	var out lines
	for {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			return append(out, text)
		}
		out = append(out, text[:i])
		if strings.HasPrefix(text[i:], "\r\n") {
			i++
		}
		text = text[i+1:]
	}
}

func (l lines) at(n int) string {
	if n < 0 || n >= len(l) {
		return ""
	}
	return l[n]
}

// position converts a place in these lines.
func (l lines) position(p Position, from, to encoding) Position {
	return Position{max(p.Line, 0), convert(l.at(p.Line), p.Character, from, to)}
}

func (l lines) span(r Range, from, to encoding) Range {
	return Range{l.position(r.Start, from, to), l.position(r.End, from, to)}
}

// offsetIn returns the byte offset of a UTF-16 position in a text. A position beyond
// the end of a line means that end, one beyond the last line the end of the text.
func offsetIn(text string, p Position) int {
	at := 0
	for range p.Line {
		i := strings.IndexAny(text[at:], "\r\n")
		if i < 0 {
			return len(text)
		}
		at += i + 1
		if text[at-1] == '\r' && strings.HasPrefix(text[at:], "\n") {
			at++
		}
	}
	line := text[at:]
	if i := strings.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	return at + utf16Units.offset(line, p.Character)
}
