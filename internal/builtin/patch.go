package builtin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"lathe/internal/order"
)

// hunk is what a patch does to one file. It is a closed set: [addFile],
// [deleteFile] and [updateFile].
type hunk interface{ target() string }

type addFile struct{ path, content string }

type deleteFile struct{ path string }

type updateFile struct {
	path, moveTo string
	chunks       []chunk
}

func (h addFile) target() string    { return h.path }
func (h deleteFile) target() string { return h.path }
func (h updateFile) target() string { return h.path }

// chunk replaces old lines with new ones. Context is a line to look for first;
// with atEnd the old lines are the last of the file.
type chunk struct {
	context  string
	old, new []string
	atEnd    bool
}

const (
	patchBegin  = "*** Begin Patch"
	patchEnd    = "*** End Patch"
	patchAdd    = "*** Add File:"
	patchDelete = "*** Delete File:"
	patchUpdate = "*** Update File:"
	patchMove   = "*** Move to:"
	patchEOF    = "*** End of File"
)

var hereDocument = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)\A(?:cat\s+)?<<-?\s*(?:'(\w+)'|"(\w+)"|(\w+))[ \t]*\n(.*)\n[ \t]*(\w+)\z`)
})

// withoutHereDocument takes a patch out of "cat <<EOF … EOF".
func withoutHereDocument(text string) string {
	m := hereDocument().FindStringSubmatch(text)
	if m == nil || m[1]+m[2]+m[3] != m[5] {
		return text
	}
	return m[4]
}

// parsePatch reads a patch. Lines between the sections are passed over.
func parsePatch(text string) ([]hunk, error) {
	text = withoutHereDocument(strings.TrimSpace(toLF(text)))
	lines := strings.Split(text, "\n")
	is := func(marker string) func(string) bool {
		return func(line string) bool { return strings.TrimSpace(line) == marker }
	}
	begin, end := slices.IndexFunc(lines, is(patchBegin)), slices.IndexFunc(lines, is(patchEnd))
	if begin < 0 || end >= 0 && end < begin || begin == len(lines)-1 {
		return nil, failf("Invalid patch format: missing Begin/End markers. A patch begins with the line %q and ends with %q; a unified diff is not understood.", patchBegin, patchEnd)
	}
	if end < 0 { // models forget it
		end = len(lines)
	}
	p := patchLines{lines: lines[begin+1 : end]}
	var hunks []hunk
	for p.more() {
		line := p.take()
		var h hunk
		if path, ok := strings.CutPrefix(line, patchAdd); ok {
			h = addFile{strings.TrimSpace(path), p.content()}
		} else if path, ok := strings.CutPrefix(line, patchDelete); ok {
			h = deleteFile{strings.TrimSpace(path)}
		} else if path, ok := strings.CutPrefix(line, patchUpdate); ok {
			h = p.update(strings.TrimSpace(path))
		} else {
			continue
		}
		if h.target() == "" {
			return nil, failf("a section names no file: %q", line)
		}
		hunks = append(hunks, h)
	}
	return hunks, nil
}

// patchLines are the lines between the markers.
type patchLines struct {
	lines []string
	at    int
}

func (p *patchLines) more() bool   { return p.at < len(p.lines) }
func (p *patchLines) peek() string { return p.lines[p.at] }
func (p *patchLines) take() string { p.at++; return p.lines[p.at-1] }

// content reads what an added file holds.
func (p *patchLines) content() string {
	var out []string
	for p.more() && !strings.HasPrefix(p.peek(), "***") {
		if line, ok := strings.CutPrefix(p.take(), "+"); ok {
			out = append(out, line)
		}
	}
	text := strings.TrimSuffix(strings.Join(out, "\n"), "\n")
	if text != "" {
		text += "\n"
	}
	return text
}

func (p *patchLines) update(path string) updateFile {
	u := updateFile{path: path}
	if p.more() {
		if to, ok := strings.CutPrefix(p.peek(), patchMove); ok {
			u.moveTo = strings.TrimSpace(to)
			p.at++
		}
	}
	for p.more() {
		line := p.peek()
		switch {
		case strings.TrimSpace(line) == patchEOF:
			p.at++
			if n := len(u.chunks); n > 0 {
				u.chunks[n-1].atEnd = true
			}
		case strings.HasPrefix(line, "***"):
			return u
		case strings.HasPrefix(line, "@@"):
			p.at++
			u.chunks = append(u.chunks, p.chunk(strings.TrimSpace(strings.TrimPrefix(line, "@@"))))
		case len(u.chunks) == 0 && changes(line): // the first chunk may lack its "@@"
			u.chunks = append(u.chunks, p.chunk(""))
		default:
			p.at++
		}
	}
	return u
}

func changes(line string) bool {
	return line != "" && strings.ContainsRune(" +-", rune(line[0]))
}

// chunk reads lines up to the next "@@" or "***". An empty line stands for an
// empty context line that lost its blank.
func (p *patchLines) chunk(context string) chunk {
	c := chunk{context: unifiedContext(context)}
	for p.more() && !strings.HasPrefix(p.peek(), "@@") && !strings.HasPrefix(p.peek(), "***") {
		line := p.take()
		if line == "" {
			if p.more() && changes(p.peek()) {
				c.old, c.new = append(c.old, ""), append(c.new, "")
			}
			continue
		}
		switch rest := line[1:]; line[0] {
		case ' ':
			c.old, c.new = append(c.old, rest), append(c.new, rest)
		case '-':
			c.old = append(c.old, rest)
		case '+':
			c.new = append(c.new, rest)
		}
	}
	return c
}

// unifiedContext removes the line numbers of a unified diff from a context line
// ("-1,4 +1,5 @@ func a()"); they mean nothing here.
func unifiedContext(s string) string {
	if !strings.HasPrefix(s, "-") {
		return strings.TrimSpace(strings.TrimSuffix(s, "@@"))
	}
	if head, rest, ok := strings.Cut(s, "@@"); ok && strings.Trim(head, "-+,0123456789 ") == "" {
		return strings.TrimSpace(rest)
	}
	return s
}

// apply makes the chunks' changes to a text with LF line ends.
func (u updateFile) apply(text string) (string, error) {
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	type replacement struct {
		at, count int
		with      []string
	}
	var all []replacement
	cursor := 0
	for _, c := range u.chunks {
		if c.context != "" {
			at := seek(lines, []string{c.context}, cursor, false)
			if at < 0 {
				return "", failf("Failed to find context '%s' in %s%s", c.context, u.path, nearestTo(lines, []string{c.context}))
			}
			cursor = at + 1
		}
		if len(c.old) == 0 {
			at := len(lines)
			if c.context != "" && !c.atEnd {
				at = cursor
			}
			all = append(all, replacement{at, 0, c.new})
			continue
		}
		old, with := c.old, c.new
		at := seek(lines, old, cursor, c.atEnd)
		if at < 0 && len(old) > 1 && old[len(old)-1] == "" {
			old = old[:len(old)-1]
			if n := len(with); n > 0 && with[n-1] == "" {
				with = with[:n-1]
			}
			at = seek(lines, old, cursor, c.atEnd)
		}
		if at < 0 {
			return "", failf("Failed to find expected lines in %s:\n%s%s", u.path, strings.Join(c.old, "\n"), nearestTo(lines, c.old))
		}
		all = append(all, replacement{at, len(old), with})
		cursor = at + len(old)
	}
	order.Stable(all, func(a, b replacement) int { return a.at - b.at })
	var out []string
	done := 0
	for _, r := range all {
		out = append(append(out, lines[done:r.at]...), r.with...)
		done = r.at + r.count
	}
	out = append(out, lines[done:]...)
	if len(out) == 0 {
		return "", nil
	}
	return strings.TrimSuffix(strings.Join(out, "\n"), "\n") + "\n", nil
}

// seek returns where the wanted lines are at or after the cursor, or -1. It
// compares less and less strictly.
func seek(lines, want []string, cursor int, atEnd bool) int {
	if len(want) > len(lines) {
		return -1
	}
	for _, fold := range []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.TrimRight(s, " \t\r\v\f") },
		strings.TrimSpace,
		func(s string) string { return plainPunctuation(strings.TrimSpace(s)) },
	} {
		folded := make([]string, len(want))
		for i, w := range want {
			folded[i] = fold(w)
		}
		at := func(i int) bool {
			for k, w := range folded {
				if fold(lines[i+k]) != w {
					return false
				}
			}
			return true
		}
		if last := len(lines) - len(want); atEnd && last >= cursor && at(last) {
			return last
		}
		for i := cursor; i+len(want) <= len(lines); i++ {
			if at(i) {
				return i
			}
		}
	}
	return -1
}

// plainPunctuation makes typographic characters into those on a keyboard.
func plainPunctuation(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 0x2018 && r <= 0x201b:
			b.WriteByte('\'')
		case r >= 0x201c && r <= 0x201f:
			b.WriteByte('"')
		case r >= 0x2010 && r <= 0x2015:
			b.WriteByte('-')
		case r == 0x2026:
			b.WriteString("...")
		case r == 0xa0:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// summary is the line that describes a change: "A path", "M path" or "D path".
func summary(letter, rel string) string { return fmt.Sprintf("%s %s", letter, rel) }
