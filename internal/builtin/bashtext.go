package builtin

import (
	"bytes"
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/printable"
	"lathe/internal/tool"
)

const (
	shownBytes  = 20 << 10 // of a command's output, unless tool_output says otherwise
	smallest    = 4 << 10
	tokenBytes  = 3   // bytes of a token, roughly
	windowShare = 24  // fraction of the window that one output may take
	headShare   = 4   // a quarter of the room goes to the beginning, the rest to the end
	errorBytes  = 600 // of the first error in what is left out
	errorLines  = 4
)

// shown is how many bytes of an output a model is shown: fewer if its window is
// small. No model means any.
func (e shellTools) shown(model lathe.ModelRef) int {
	if e.Limits.MaxBytes > 0 {
		return e.Limits.MaxBytes
	}
	if e.Window == nil || model == (lathe.ModelRef{}) {
		return shownBytes
	}
	if window := e.Window(model); window > 0 {
		return min(shownBytes, max(window/windowShare*tokenBytes, smallest))
	}
	return shownBytes
}

// plain returns output as a terminal would leave it.
func plain(raw []byte) string { return printable.Plain(string(raw)) }

// abridged is an output that is shown in part.
type abridged struct {
	head, tail string
	first      int // lines in head
	last       int // lines in tail
}

// abridge returns what is shown of an output whose beginning and end are available,
// within room bytes and most lines; whole says that they are the same. ok is false if
// nothing is left out.
func abridge(begin, end []byte, whole bool, room, most int) (a abridged, text string, ok bool) {
	if whole {
		text = plain(end)
		if lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; len(text) <= room && lines <= most {
			return a, text, false
		}
		a.head, a.first = firstLines(text, most/headShare, room/headShare)
		a.tail, a.last = lastLines(strings.TrimPrefix(text, a.head), most-most/headShare, room-room/headShare)
		return a, text, true
	}
	a.head, a.first = firstLines(plain(begin), most/headShare, room/headShare)
	if i := bytes.IndexByte(end, '\n'); i >= 0 { // the buffer may begin in the middle of a line
		end = end[i+1:]
	}
	a.tail, a.last = lastLines(plain(end), most-most/headShare, room-room/headShare)
	return a, "", true
}

// firstLines returns whole lines from the beginning, with their line ends, and how
// many there are. If the first line is too long, it returns its beginning.
func firstLines(text string, lines, room int) (string, int) {
	at, n := 0, 0
	for n < lines && at < len(text) {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 || at+i+1 > room {
			break
		}
		at, n = at+i+1, n+1
	}
	if n == 0 {
		return tool.CutHead(text, room), 0
	}
	return text[:at], n
}

// lastLines is firstLines from the end. A last line need not have a line end.
func lastLines(text string, lines, room int) (string, int) {
	at, n := len(text), 0
	for n < lines && at > 0 {
		i := strings.LastIndexByte(text[:at-1], '\n') + 1
		if len(text)-i > room {
			break
		}
		at, n = i, n+1
	}
	if n == 0 {
		return tool.CutTail(text, room), 0
	}
	return text[at:], n
}

// gap says what is left out between head and tail of an output with that many lines.
func (a abridged) gap(lines int, total int64) string {
	from, to := a.first+1, lines-a.last
	if a.first == 0 || a.last == 0 || to < from {
		return fmt.Sprintf("%s of %s bytes left out", grouped(total-int64(len(a.head)+len(a.tail))), grouped(total))
	}
	return fmt.Sprintf("lines %s to %s of %s left out", grouped(int64(from)), grouped(int64(to)), grouped(int64(lines)))
}

// grouped writes a number with separators: 39,960.
func grouped(n int64) string {
	s := fmt.Sprint(max(n, 0))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// lookout finds the first error in the part of an output that may be left out, as
// the output passes by.
type lookout struct {
	skip  int // bytes at the beginning that are shown anyway
	lines int // line ends so far
	part  []byte
	at    int // line of the error
	text  []byte
	more  int // how many more lines belong to it
}

// signs are strings that a line with an error usually contains; searching for them is cheap.
var signs = [][]byte{[]byte("rror"), []byte("RROR"), []byte("FAIL"), []byte("anic"), []byte("atal"), []byte("xception"), []byte("Traceback"), []byte("ndefined"), []byte("not found")}

var errorLine = pattern(`(?i)\berror\b|error:|\w+Error\b|\bFAIL(ED|URE)?\b|^panic:|\bfatal\b|exception\b|^Traceback|\bundefined\b|not found`)

func (l *lookout) write(p []byte) {
	if l.skip >= len(p) {
		l.skip -= len(p)
		l.lines += bytes.Count(p, []byte{'\n'})
		return
	}
	if l.skip > 0 {
		l.lines += bytes.Count(p[:l.skip], []byte{'\n'})
		p, l.skip = p[l.skip:], 0
	}
	l.look(p)
}

func (l *lookout) look(p []byte) {
	end := bytes.LastIndexByte(p, '\n') + 1
	if l.at != 0 && l.more == 0 || end == 0 {
		l.lines += bytes.Count(p, []byte{'\n'})
		if end == 0 && len(l.part) < 4096 {
			l.part = append(l.part, p...)
		} else {
			l.part = l.part[:0]
		}
		return
	}
	text := append(l.part, p[:end]...)
	if l.more > 0 || hasSign(text) {
		l.each(text)
	} else {
		l.lines += bytes.Count(text, []byte{'\n'})
	}
	l.part = append(l.part[:0], p[end:]...)
}

func (l *lookout) each(text []byte) {
	for line := range bytes.Lines(text) {
		l.lines++
		switch {
		case l.more > 0:
			l.more--
			l.text = append(l.text, line...)
		case l.at == 0 && hasSign(line) && errorLine().Match(line):
			l.at, l.more = l.lines, errorLines-1
			l.text = append(l.text, line...)
		}
	}
}

func hasSign(text []byte) bool {
	for _, sign := range signs {
		if bytes.Contains(text, sign) {
			return true
		}
	}
	return false
}

// found returns the error if it is among the lines left out.
func (l *lookout) found(from, to int) string {
	if l.at < from || l.at > to {
		return ""
	}
	return fmt.Sprintf("first error in that, line %s:\n%s", grouped(int64(l.at)), strings.TrimRight(tool.CutHead(plain(l.text), errorBytes), "\n"))
}
