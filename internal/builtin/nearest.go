package builtin

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

const (
	nearestLines = 6        // that are shown at most
	nearestLeast = 3        // that are shown at least, where the file has as many
	nearestWidth = 300      // bytes of one
	nearestWork  = 20 << 20 // comparisons of lines
	likeness     = 0.35     // average similarity of the lines, or half of that of one of them
)

const notFound = "Could not find oldString in the file: it must be the file's exact text, with its indentation and line breaks."

func (s *source) ambiguous(spans []span) error {
	var at []string
	for _, sp := range spans[:min(len(spans), 5)] {
		at = append(at, fmt.Sprint(s.line(sp.start)))
	}
	more := ""
	if len(spans) > 5 {
		more = fmt.Sprintf(" and %d more", len(spans)-5)
	}
	return failf("Found multiple matches for oldString (at lines %s%s): "+
		"add lines around it until it is unique, or set replaceAll to change every one", strings.Join(at, ", "), more)
}

// notFound shows the lines that are most like the search text.
func (s *source) notFound(n *needle) error {
	s.split()
	lines := s.lines
	if k := len(lines); lines[k-1] == "" {
		lines = lines[:k-1]
	}
	shown, first := nearest(lines, n.lines)
	if shown == "" {
		return failf("%s No line of the file is like it: it may be in another file, or gone; look for it with grep.", notFound)
	}
	which := ""
	if first > 0 && len(n.lines) > 1 {
		which = fmt.Sprintf(" (line %d of oldString is the first that differs)", first)
	}
	return failf("%s The nearest lines are%s:\n%s", notFound, which, shown)
}

// nearestTo is what an error about lines that were not found adds.
func nearestTo(lines, want []string) string {
	shown, _ := nearest(lines, want)
	if shown == "" {
		return ""
	}
	return "\nThe nearest lines of the file are:\n" + shown
}

// nearest returns the lines most like the wanted ones, with their numbers, and the
// number of the first wanted line that differs from its counterpart, or 0. It
// returns nothing if none are alike.
func nearest(lines, want []string) (shown string, differs int) {
	want = want[:min(len(want), max(1, nearestWork/max(1, len(lines))))]
	at, ok := mostAlike(lines, want)
	if !ok {
		return "", 0
	}
	from, to := at, min(at+len(want), len(lines))
	for i := range want {
		if at+i >= len(lines) || strings.TrimSpace(lines[at+i]) != strings.TrimSpace(want[i]) {
			differs = i + 1
			break
		}
	}
	if to-from > nearestLines {
		from = min(max(from, at+differs-nearestLines/2), to-nearestLines)
		to = from + nearestLines
	}
	for to-from < nearestLeast && (from > 0 || to < len(lines)) {
		from, to = max(0, from-1), min(len(lines), to+1)
	}
	return numberedLines(lines, from, to), differs
}

// numberedLines writes lines as read does.
func numberedLines(lines []string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%d: %s\n", i+1, clip(strings.ToValidUTF8(lines[i], "\ufffd"), nearestWidth))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// mostAlike returns where the lines begin that are most like the wanted ones.
func mostAlike(lines, want []string) (at int, ok bool) {
	have, wanted := pairsOf(lines), pairsOf(want)
	counted := 0
	for _, w := range wanted {
		if w.n > 0 {
			counted++
		}
	}
	best, peak := 0.0, 0.0
	for i := range lines {
		sum, top := 0.0, 0.0
		for j, w := range wanted {
			if w.n == 0 || i+j >= len(lines) {
				continue
			}
			alike := w.like(have[i+j])
			sum, top = sum+alike, max(top, alike)
		}
		if sum > best {
			at, best, peak = i, sum, top
		}
	}
	return at, counted > 0 && (best/float64(counted) >= likeness || peak >= 2*likeness)
}

// pairSet holds which pairs of bytes a line contains, apart from white space: what
// two lines have in common can be counted without comparing them byte by byte.
type pairSet struct {
	bits [4]uint64
	n    int
}

func pairsOf(lines []string) []pairSet {
	out := make([]pairSet, len(lines))
	for i, line := range lines {
		out[i] = pairs(clip(line, 4*nearestWidth))
	}
	return out
}

func pairs(line string) pairSet {
	var s pairSet
	prev := byte(0)
	for i := range len(line) {
		c := line[i]
		if c == ' ' || c == '\t' || c == '\r' {
			continue
		}
		h := (uint32(prev)*31 + uint32(c)) * 2654435761 >> 24
		s.bits[h>>6] |= 1 << (h & 63)
		prev = c
	}
	for _, w := range s.bits {
		s.n += bits.OnesCount64(w)
	}
	return s
}

// like returns how alike two lines are, 1 being equal.
func (s pairSet) like(o pairSet) float64 {
	both := 0
	for i := range s.bits {
		both += bits.OnesCount64(s.bits[i] & o.bits[i])
	}
	return 2 * float64(both) / float64(s.n+o.n)
}

// lineNumber is what read, and tools of other agents, put before a line.
var lineNumber = pattern(`^[ \t]*(\d{1,7})(?:: ?|\t|\| ?|→)`)

// numbered finds a search text that was copied with line numbers. It counts as such
// if the numbers go up by one, or for a single line if it has that number.
func (s *source) numbered(n *needle, replacement string, all bool) (match, bool) {
	old, first, ok := withoutNumbers(n.lines, true)
	if !ok {
		return match{}, false
	}
	put, _, _ := withoutNumbers(strings.Split(replacement, "\n"), false)
	text, end := strings.Join(old, "\n"), ""
	if n.newline {
		end = "\n"
	}
	m, err := s.find(newNeedle(text+end), strings.Join(put, "\n"), all)
	if err != nil || len(m.spans) == 0 || len(old) == 1 && (len(m.spans) != 1 || s.line(m.spans[0].start) != first) {
		return match{}, false
	}
	m.loose = "no line numbers"
	return m, true
}

// withoutNumbers removes line numbers. With strict every line must have one, each
// higher by one than the one before.
func withoutNumbers(lines []string, strict bool) (out []string, first int, ok bool) {
	for i, line := range lines {
		m := lineNumber().FindStringSubmatch(line)
		if m == nil {
			if strict {
				return nil, 0, false
			}
			out = append(out, line)
			continue
		}
		at, err := strconv.Atoi(m[1])
		if i == 0 {
			first = at
		}
		if strict && (err != nil || at != first+i) {
			return nil, 0, false
		}
		out = append(out, line[len(m[0]):])
	}
	return out, first, true
}

const (
	resultLines = 20 // lines of a change that are shown in full; of a longer one both ends
	resultEnds  = 8
)

// result returns the lines that the first change of a match makes, with their numbers.
func (m match) result(text string) string {
	sp, put := m.spans[0], m.texts[0]
	after := text[:sp.start] + put + text[sp.end:]
	lines := strings.Split(after, "\n")
	from := strings.Count(text[:sp.start], "\n")
	to := min(from+strings.Count(strings.TrimSuffix(put, "\n"), "\n")+1, len(lines))
	if put == "" {
		from = max(0, from-1)
	}
	if to-from <= resultLines {
		return numberedLines(lines, from, to)
	}
	return numberedLines(lines, from, from+resultEnds) + "\n...\n" + numberedLines(lines, to-resultEnds, to)
}
