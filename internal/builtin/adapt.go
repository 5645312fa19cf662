package builtin

import (
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
	table := make(map[string]string)
	for i, line := range n.lines {
		if n.trimmed[i] == "" {
			continue
		}
		from, to := indent(line), indent(have[i])
		if old, ok := table[from]; ok && old != to {
			return replacement
		}
		table[from] = to
	}
	lines := strings.Split(replacement, "\n")
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if _, ok := table[indent(line)]; !ok || indent(line) != n.firstIndent() {
			return replacement
		}
		break
	}
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = moved(line, table)
		}
	}
	return strings.Join(lines, "\n")
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

// moved replaces the longest known beginning of a line's indentation.
func moved(line string, table map[string]string) string {
	own := indent(line)
	best, ok := "", false
	for from := range table {
		if strings.HasPrefix(own, from) && (!ok || len(from) > len(best)) {
			best, ok = from, true
		}
	}
	if !ok {
		return line
	}
	return table[best] + line[len(best):]
}

// unescapeSame unescapes the replacement as the search had to be, unless the
// replacement alone has real line ends.
func unescapeSame(found string, n *needle, replacement string) string {
	if found != unescape(n.text) || found == n.text {
		return replacement
	}
	if strings.Contains(replacement, "\n") && !strings.Contains(n.text, "\n") {
		return replacement
	}
	return unescape(replacement)
}

// trimSame takes off the replacement the white space that was taken off the
// search, where it has the same.
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
