package markup

import "strings"

// maxColumns bounds a table; a wider one is text. Nobody has room for more.
const maxColumns = 64

// Boundary returns the length of the first chunk of the text that later text
// cannot change, or 0. A chunk ends at blank lines that are followed by a line
// which is not indented, outside fences.
func Boundary(text string) int {
	fence, blank, content := "", false, false
	for at := 0; at < len(text); {
		end, complete := len(text), false
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end, complete = at+i, true
		}
		line := text[at:end]
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case trimmed == "" && !complete:
			return 0
		case trimmed == "":
			blank = true
		default:
			if fence == "" && blank && content && len(line)-len(trimmed) < 2 {
				return at
			}
			fence = FenceAfter(fence, trimmed)
			blank, content = false, true
		}
		at = end + 1
	}
	return 0
}

// FenceAfter returns the fence that is open after a line.
func FenceAfter(open, line string) string {
	f := Fence(line)
	switch {
	case open == "":
		return f
	case f != "" && f[0] == open[0] && len(f) >= len(open) && strings.TrimSpace(line[len(f):]) == "":
		return ""
	}
	return open
}

// Fence returns the fence that a line begins with.
func Fence(line string) string {
	for _, c := range []string{"`", "~"} {
		n := 0
		for n < len(line) && line[n] == c[0] {
			n++
		}
		if n >= 3 && (c == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

// Heading reads a line as a heading; level 0 means that it is none.
func Heading(line string) (level int, text string) {
	n := 0
	for n < len(line) && line[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n < len(line) && line[n] != ' ' {
		return 0, ""
	}
	text = strings.TrimSpace(line[n:])
	if cut := strings.TrimRight(text, "#"); cut == "" || strings.HasSuffix(cut, " ") {
		text = strings.TrimSpace(cut)
	}
	return n, text
}

// Rule reports whether a line is a horizontal rule.
func Rule(line string) bool {
	s := strings.ReplaceAll(line, " ", "")
	return len(s) >= 3 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}

// Marker reads the list marker that a line begins with, which must not be empty: what is
// shown for it ("" for a bullet), and the width up to the text.
func Marker(line string) (shown string, width int, ok bool) {
	n := 0
	switch {
	case line[0] == '-' || line[0] == '*' || line[0] == '+':
		n = 1
	default:
		for n < len(line) && n < 9 && line[n] >= '0' && line[n] <= '9' {
			n++
		}
		if n == 0 || n == len(line) || line[n] != '.' && line[n] != ')' {
			return "", 0, false
		}
		shown = line[:n+1]
		n++
	}
	if n == len(line) {
		return shown, n + 1, true
	}
	if line[n] != ' ' {
		return "", 0, false
	}
	text := strings.TrimLeft(line[n:], " ")
	if gap := len(line) - n - len(text); gap <= 4 && text != "" {
		return shown, n + gap, true
	}
	return shown, n + 1, true
}

// Indent returns how many blanks a line begins with.
func Indent(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// Joined puts the lines of a paragraph together. Two blanks or a backslash at the
// end of a line break it; when lines are short, models mean other line breaks
// too.
func Joined(src []string) string {
	var b strings.Builder
	for i, l := range src {
		text := strings.TrimSpace(l)
		hard := strings.HasSuffix(l, "  ")
		if cut, ok := strings.CutSuffix(text, "\\"); ok {
			text, hard = cut, true
		}
		b.WriteString(text)
		if i < len(src)-1 {
			if hard {
				b.WriteByte('\n')
			} else {
				b.WriteByte(' ')
			}
		}
	}
	return b.String()
}

// Table reports whether a line and the one below it begin a table.
func Table(head, delim string) bool {
	if !strings.Contains(head, "|") {
		return false
	}
	cols := Cells(delim)
	if len(cols) > maxColumns {
		return false
	}
	for _, c := range cols {
		if t := strings.Trim(c, ":"); t == "" || strings.Trim(t, "-") != "" {
			return false
		}
	}
	return len(cols) > 0 && len(cols) == len(Cells(head))
}

// Cells splits a row at its bars.
func Cells(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimPrefix(row, "|")
	if strings.HasSuffix(row, "|") && !strings.HasSuffix(row, `\|`) {
		row = row[:len(row)-1]
	}
	var out []string
	from, code := 0, false
	for i := 0; i < len(row); i++ {
		switch row[i] {
		case '\\':
			i++
		case '`':
			code = !code
		case '|':
			if !code {
				out = append(out, strings.TrimSpace(row[from:i]))
				from = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(row[from:]))
}

// Continues reports whether line i, not the first, belongs to an item whose text begins at column
// text and whose marker is at column mark.
func Continues(src []string, i, text, mark int) bool {
	line := strings.TrimLeft(src[i], " ")
	indent := len(src[i]) - len(line)
	if line == "" {
		return i+1 < len(src) && (strings.TrimSpace(src[i+1]) == "" || Indent(src[i+1]) > mark && Indent(src[i+1]) >= min(text, mark+2))
	}
	if indent > mark && indent >= min(text, mark+2) {
		return true
	}
	if strings.TrimSpace(src[i-1]) == "" {
		return false
	}
	_, _, item := Marker(line)
	level, _ := Heading(line)
	return !item && level == 0 && !Rule(line) && Fence(line) == "" && line[0] != '>'
}
