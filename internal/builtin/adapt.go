package builtin

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// reindent fits a replacement to the indentation of what was found, if the
// search differed from it there. How each indentation of the search is written
// in the file is learned line by line; a replacement that does not start with
// the search's own indentation was meant as it stands.
func reindent(found string, n *needle, replacement string) string {
	have := strings.Split(strings.TrimSuffix(found, "\n"), "\n")
	if len(have) != len(n.lines) {
		return trimSame(found, n, replacement)
	}
	table, ok := learn(have, n.lines)
	if !ok {
		return replacement
	}
	return table.apply(n.firstIndent(), replacement)
}

// reindentBlock is reindent for a block of which only some lines are known to
// match the search: the first and last, and any others that are equal.
func reindentBlock(found string, n *needle, replacement string) string {
	have := strings.Split(strings.TrimSuffix(found, "\n"), "\n")
	want := n.lines
	if len(have) != len(want) {
		have, want = []string{have[0], have[len(have)-1]}, []string{want[0], want[len(want)-1]}
	}
	var same, lines []string
	for i, line := range want {
		if collapse(line) == collapse(have[i]) {
			same, lines = append(same, have[i]), append(lines, line)
		}
	}
	table, ok := learn(same, lines)
	if !ok {
		return replacement
	}
	return table.apply(n.firstIndent(), replacement)
}

// indents says how an indentation of the search is written in the file.
type indents map[string]string

// learn pairs the indentation of lines; it fails if one indentation is written in two ways.
func learn(have, want []string) (indents, bool) {
	table := indents{}
	for i, line := range want {
		if strings.TrimSpace(line) == "" {
			continue
		}
		from, to := indent(line), indent(have[i])
		if old, ok := table[from]; ok && old != to {
			return nil, false
		}
		table[from] = to
	}
	return table, true
}

// apply gives a text that begins with the indentation first the file's indentation.
func (t indents) apply(first, text string) string {
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if _, ok := t[indent(line)]; !ok || indent(line) != first {
			return text
		}
		break
	}
	from, to := t.level(lines)
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = t.moved(line, from, to)
		}
	}
	return strings.Join(lines, "\n")
}

// moved replaces the longest known beginning of a line's indentation, and every level
// beyond that.
func (t indents) moved(line, from, to string) string {
	own := indent(line)
	best, ok := "", false
	for known := range t {
		if strings.HasPrefix(own, known) && (!ok || len(known) > len(best)) {
			best, ok = known, true
		}
	}
	if !ok {
		return line
	}
	out, rest := t[best], own[len(best):]
	for from != "" && strings.HasPrefix(rest, from) {
		out, rest = out+to, rest[len(from):]
	}
	return out + rest + line[len(own):]
}

// level returns how one level of indentation is written in the search and its
// replacement, and how in the file; empty texts if they are the same or unknown.
func (t indents) level(lines []string) (from, to string) {
	known := slices.Sorted(maps.Keys(t))
	for _, f1 := range known { // two depths of both settle it
		t1 := t[f1]
		for _, f2 := range known {
			t2 := t[f2]
			df, deeper := strings.CutPrefix(f2, f1)
			dt, too := strings.CutPrefix(t2, t1)
			if deeper && too && df != "" && dt != "" && (from == "" || len(df) < len(from) || df == from && len(dt) < len(to)) {
				from, to = df, dt
			}
		}
	}
	if from != "" {
		return divided(from, to)
	}
	for _, f := range known {
		have := t[f]
		switch {
		case strings.Trim(have, "\t") == "" && have != "" && strings.Trim(f, " ") == "":
			if f == "" {
				return strings.Repeat(" ", step(lines)), "\t"
			}
			return divided(f, have)
		case strings.Trim(have, " ") == "" && have != "" && strings.Trim(f, "\t") == "" && f != "":
			return divided(f, have)
		}
	}
	return "", ""
}

// divided reduces several levels to one, if both sides have the same number.
func divided(from, to string) (string, string) {
	for _, n := range []int{4, 3, 2} {
		a, b := len(from)/n, len(to)/n
		if a > 0 && b > 0 && strings.Repeat(from[:a], n) == from && strings.Repeat(to[:b], n) == to && (a > 1 || from[0] == '\t') && (b > 1 || to[0] == '\t') {
			return from[:a], to[:b]
		}
	}
	return from, to
}

// step returns the smallest number of blanks by which lines are indented, or 0.
func step(lines []string) int {
	least := 0
	for _, line := range lines {
		if in := indent(line); in != "" && strings.Trim(in, " ") == "" && strings.TrimSpace(line) != "" && (least == 0 || len(in) < least) {
			least = len(in)
		}
	}
	return least
}

// firstIndent is the indentation of the first line that is not blank.
func (n *needle) firstIndent() string {
	for i, line := range n.lines {
		if n.trimmed[i] != "" {
			return indent(line)
		}
	}
	return ""
}

// unescapeSame unescapes the replacement the way the search had to be, unless
// only the replacement has real line ends.
func unescapeSame(found string, n *needle, replacement string) string {
	if found != unescape(n.text) || found == n.text {
		return replacement
	}
	if strings.Contains(replacement, "\n") && !strings.Contains(n.text, "\n") {
		return replacement
	}
	return unescape(replacement)
}

// trimSame trims from the replacement the white space that was trimmed from the
// search, if it has the same.
func trimSame(_ string, n *needle, replacement string) string {
	body := strings.TrimLeftFunc(n.text, unicode.IsSpace)
	head := n.text[:len(n.text)-len(body)]
	tail := body[len(strings.TrimRightFunc(body, unicode.IsSpace)):]
	if out, ok := strings.CutPrefix(replacement, head); ok {
		replacement = out
	}
	if out, ok := strings.CutSuffix(replacement, tail); ok {
		replacement = out
	}
	return replacement
}
