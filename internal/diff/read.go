package diff

import (
	"strconv"
	"strings"
)

// Mark says what a line of a unified diff is.
type Mark byte

// The kinds of lines.
const (
	MarkSame  Mark = ' '
	MarkGone  Mark = '-'
	MarkNew   Mark = '+'
	MarkHunk  Mark = '@' // where a hunk begins
	MarkFile  Mark = '#' // its text is the name of the new file
	MarkOther Mark = '!' // anything else that is not one of git's own notes
)

// Row is a line of a unified diff without its mark. Old and New are the numbers
// it has in the files, zero where it is not in one.
type Row struct {
	Mark     Mark
	Old, New int
	Text     string
}

// Read reads a unified diff. Lines of a hunk are counted by its header, since a
// removed "-- x" looks just like the name of a file: nothing that a diff changes
// is left out, whatever its text is.
func Read(text string) []Row {
	var r reading
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if !r.body(line) {
			r.outside(line)
		}
	}
	return r.out
}

type reading struct {
	out           []Row
	old, new      int  // numbers of the next lines
	before, after int  // lines that the hunk still has
	loose         bool // the hunk does not say how many it has
}

// body takes a line of a hunk, and reports whether it was one.
func (r *reading) body(line string) bool {
	if r.before <= 0 && r.after <= 0 && !r.loose {
		return false
	}
	mark, text := MarkSame, line
	if line != "" {
		mark, text = Mark(line[0]), line[1:]
	}
	l := Row{Mark: mark, Text: text}
	switch {
	case mark == MarkSame:
		l.Old, l.New = r.old, r.new
		r.old, r.new, r.before, r.after = r.old+1, r.new+1, r.before-1, r.after-1
	case mark == MarkGone && (r.before > 0 || r.loose):
		l.Old = r.old
		r.old, r.before = r.old+1, r.before-1
	case mark == MarkNew && (r.after > 0 || r.loose):
		l.New = r.new
		r.new, r.after = r.new+1, r.after-1
	case mark == '\\':
		return true // no newline at the end
	default:
		r.before, r.after, r.loose = 0, 0, false
		return false
	}
	r.out = append(r.out, l)
	return true
}

// noted are the beginnings of lines with which programs introduce a file.
var noted = []string{"--- ", "Index: ", "====", "diff --git ", "index ", "new file mode ", "deleted file mode ", "old mode ", "new mode ",
	"similarity index ", "rename from ", "rename to ", "copy from ", "copy to ", `\`}

func (r *reading) outside(line string) {
	switch {
	case strings.HasPrefix(line, "@@"):
		r.old, r.new = starts(line)
		r.before, r.after = hunkSize(line)
		r.loose = r.before <= 0 && r.after <= 0
		r.out = append(r.out, Row{Mark: MarkHunk, Text: line})
		return
	case strings.HasPrefix(line, "+++ "):
		name, _, _ := strings.Cut(strings.TrimPrefix(line[len("+++ "):], "b/"), "\t")
		r.out = append(r.out, Row{Mark: MarkFile, Text: name})
		return
	case strings.TrimSpace(line) == "":
		return
	}
	for _, begin := range noted {
		if strings.HasPrefix(line, begin) {
			return
		}
	}
	r.out = append(r.out, Row{Mark: MarkOther, Text: line})
}

// starts reads the two line numbers of "@@ -1,2 +3,4 @@".
func starts(line string) (old, new int) {
	old, new = 1, 1
	for _, f := range strings.Fields(line) {
		at := &old
		switch f[0] {
		case '-':
		case '+':
			at = &new
		default:
			continue
		}
		s, _, _ := strings.Cut(f[1:], ",")
		if n, err := strconv.Atoi(s); err == nil && n >= 0 {
			*at = n
		}
	}
	return old, new
}
