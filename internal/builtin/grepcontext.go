package builtin

import (
	"fmt"
	"path/filepath"
	"strings"

	"lathe/internal/search"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

const (
	maxCounted = 10_000 // matches that are counted for files alone
	maxAround  = 4 << 20
)

// vicinity shows the lines around matches. The matches of a file come in order.
type vicinity struct {
	lines int // before and after each match; 0: none

	file []string // lines of the open file
	next int      // the first line not shown yet, from 1
	due  int      // lines up to this one belong to the newest match
}

// open begins the next file. A file that cannot be read, or is very large, is
// shown without context lines.
func (s *vicinity) open(name string) {
	s.file, s.next, s.due = nil, 1, 0
	if s.lines == 0 {
		return
	}
	data, err := workspace.ReadReal(name, maxAround)
	if err != nil {
		return
	}
	if t, err := workspace.Decode(data); err == nil {
		s.file = strings.Split(toLF(t.Content), "\n")
	}
}

// before shows what follows the match before and leads up to the one in a line.
func (s *vicinity) before(b *strings.Builder, line int) {
	if s.file == nil {
		return
	}
	s.show(b, min(s.due, line-1))
	if from := line - s.lines; from > s.next {
		if s.next > 1 {
			b.WriteString("  --\n")
		}
		s.next = from
	}
	s.show(b, line-1)
	s.next, s.due = line+1, line+s.lines
}

// rest shows what follows the last match of the file.
func (s *vicinity) rest(b *strings.Builder) {
	s.show(b, s.due)
	s.file = nil
}

func (s *vicinity) show(b *strings.Builder, last int) {
	if s.file == nil {
		return
	}
	if n := len(s.file); s.file[n-1] == "" {
		last = min(last, n-1) // nothing follows the last line end
	}
	for ; s.next <= last && s.next <= len(s.file); s.next++ {
		fmt.Fprintf(b, "  Line %d- %s\n", s.next, shorten(strings.ToValidUTF8(s.file[s.next-1], "\ufffd")))
	}
}

// grepFiles lists the files with matches, and how many each has.
func grepFiles(title, base string, found search.GrepResult, note string) tool.Result {
	var names []string
	counts := map[string]int{}
	for _, m := range found.Matches {
		if counts[m.Path]++; counts[m.Path] == 1 {
			names = append(names, m.Path)
		}
	}
	cut := found.Truncated || len(names) > maxFound
	out := "No line matches"
	if len(names) > 0 {
		var b strings.Builder
		fmt.Fprintf(&b, "Found matches in %d files:\n", len(names))
		for _, n := range names[:min(len(names), maxFound)] {
			fmt.Fprintf(&b, "%s: %d\n", filepath.Join(base, filepath.FromSlash(n)), counts[n])
		}
		if cut {
			b.WriteString("\n(There are more. Use a narrower pattern, path or include.)\n")
		}
		out = strings.TrimSuffix(b.String(), "\n")
	}
	if out += note; found.Skipped > 0 {
		out += "\n\n(Some paths were inaccessible and skipped)"
	}
	return tool.Result{Title: title, Output: out, Metadata: map[string]any{"matches": len(found.Matches), "truncated": cut}}
}
