// Package diff compares two texts line by line and shows the difference, as a
// unified diff that git apply and patch accept, or as hunks for a screen.
//
// The comparison is Myers' linear-space algorithm over interned lines, after
// the lines that only one side has are set aside (they cannot match, so the
// result stays minimal). Work is limited by counting steps, not by a clock, so
// the same texts always give the same diff on any machine. A comparison that
// exceeds the limit still gives a correct diff, only not the shortest one.
//
// Lines end at "\n" and keep it; "\r" and bytes that are not UTF-8 are content
// like any other. Each text must be smaller than 4 GiB.
package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// Context is the usual number of unchanged lines shown around a change.
const Context = 3

// Op says what happened to a line.
type Op uint8

// What can happen to a line.
const (
	Equal Op = iota
	Delete
	Insert
)

// Line is one line of a [Hunk]. Text includes the line's "\n" if it has one;
// only the last line of a text may lack it.
type Line struct {
	Op   Op
	Text string
}

// Hunk is a group of changes with the unchanged lines around them. Starts are
// counted from 1; on a side without lines the start is the line before, as in a
// unified diff.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Lines              []Line
}

// Hunks returns the differences in order, with up to context unchanged lines
// around each; nil when the texts are equal. Lines share memory with the texts.
func Hunks(before, after string, context int) []Hunk {
	a, b := split(before), split(after)
	var out []Hunk
	for _, g := range groups(compare(a, b), a.len(), b.len(), context) {
		h := g.hunk()
		h.Lines = make([]Line, 0, g.a1-g.a0+g.b1-g.b0)
		g.each(a, b, func(op Op, line string) {
			h.Lines = append(h.Lines, Line{op, line})
		})
		out = append(out, h)
	}
	return out
}

// Count returns how many lines were added and removed, as git diff --numstat does.
func Count(before, after string) (added, removed int) {
	for _, e := range compare(split(before), split(after)) {
		added += e.b1 - e.b0
		removed += e.a1 - e.a0
	}
	return added, removed
}

// Unified returns the difference as a unified diff with the two names in its
// header, or "" when the texts are equal. A name of "/dev/null" says that the
// file does not exist on that side. Names are quoted where git would quote them.
func Unified(oldName, newName, before, after string, context int) string {
	a, b := split(before), split(after)
	gs := groups(compare(a, b), a.len(), b.len(), context)
	if len(gs) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("--- " + quoteName(oldName) + "\n+++ " + quoteName(newName) + "\n")
	for _, g := range gs {
		h := g.hunk()
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(h.OldStart, h.OldLines), span(h.NewStart, h.NewLines))
		g.each(a, b, func(op Op, line string) {
			out.WriteByte(" -+"[op])
			out.WriteString(line)
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		})
	}
	return out.String()
}

func span(start, lines int) string {
	if lines == 1 {
		return strconv.Itoa(start)
	}
	return strconv.Itoa(start) + "," + strconv.Itoa(lines)
}

// quoteName writes a name as git does: a tab ends a name with spaces, so that
// patch does not cut it there, and control characters, quotes and backslashes
// are escaped within double quotes.
func quoteName(name string) string {
	special := func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }
	if !strings.ContainsFunc(name, special) {
		if strings.Contains(name, " ") {
			return name + "\t"
		}
		return name
	}
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&out, "\\%03o", c)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// group is a run of edits near enough to share a hunk, with the range it covers.
type group struct {
	a0, a1, b0, b1 int
	edits          []edit
}

func groups(edits []edit, aLen, bLen, context int) []group {
	context = max(context, 0)
	var out []group
	for i := 0; i < len(edits); {
		j := i + 1
		for j < len(edits) && edits[j].a0-edits[j-1].a1 <= 2*context {
			j++
		}
		first, last := edits[i], edits[j-1]
		lead := min(context, first.a0)
		trail := min(context, aLen-last.a1, bLen-last.b1)
		out = append(out, group{
			a0: first.a0 - lead, b0: first.b0 - lead,
			a1: last.a1 + trail, b1: last.b1 + trail,
			edits: edits[i:j],
		})
		i = j
	}
	return out
}

func (g group) hunk() Hunk {
	h := Hunk{OldStart: g.a0 + 1, OldLines: g.a1 - g.a0, NewStart: g.b0 + 1, NewLines: g.b1 - g.b0}
	if h.OldLines == 0 {
		h.OldStart--
	}
	if h.NewLines == 0 {
		h.NewStart--
	}
	return h
}

func (g group) each(a, b text, emit func(Op, string)) {
	at := g.a0
	for _, e := range g.edits {
		for ; at < e.a0; at++ {
			emit(Equal, a.line(at))
		}
		for ; at < e.a1; at++ {
			emit(Delete, a.line(at))
		}
		for i := e.b0; i < e.b1; i++ {
			emit(Insert, b.line(i))
		}
	}
	for ; at < g.a1; at++ {
		emit(Equal, a.line(at))
	}
}
