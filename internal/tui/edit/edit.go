// Package edit is the text that a person types: several lines, with a caret
// that moves by grapheme clusters, undo, and chips that stand for long pasted
// text.
package edit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lathe/internal/say"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
)

const (
	maxUndo   = 200
	chipLines = 4   // a paste of more lines becomes a chip
	chipBytes = 800 // and so does a longer one
)

// Editor is a text with a caret. The zero value is empty and ready.
type Editor struct {
	text  string
	at    int // caret, in bytes, always between clusters
	goal  int // column that vertical moves aim for; -1: the present one
	sel   int // where the selection began, plus one; 0: nothing is selected
	undo  []state
	redo  []state
	typed bool // the newest change was typing, which further typing joins
	chips []chip
	count int
}

type state struct {
	text string
	at   int
}

// chip is a label in the text that stands for content, or for a file that goes
// with the text.
type chip struct {
	label, content string
	file           *File
}

// File is something that goes with a text, such as a picture.
type File struct {
	Name, MIME string
	Data       []byte
}

// value returns what a chip means: its content, or of a file its label.
func (c *chip) value() string {
	if c.file != nil {
		return c.label
	}
	return c.content
}

// Text returns what is shown: chips as their labels.
func (e *Editor) Text() string { return e.text }

// Value returns what was meant: chips as their content, those of files as their
// labels.
func (e *Editor) Value() string {
	text, _ := e.written()
	return text
}

// Pastes returns where in the trimmed Value the content of chips is, as [from, to] in
// bytes.
func (e *Editor) Pastes() [][2]int {
	text, pasted := e.written()
	lead := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	end := len(strings.TrimSpace(text))
	var out [][2]int
	for _, p := range pasted {
		if from, to := max(p[0]-lead, 0), min(p[1]-lead, end); from < to {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

// written returns the Value, and where in it the content of chips is.
func (e *Editor) written() (text string, pasted [][2]int) {
	if len(e.chips) == 0 {
		return e.text, nil
	}
	var b strings.Builder
	for rest := e.text; ; {
		c, at := e.firstChip(rest)
		if c == nil {
			b.WriteString(rest)
			return b.String(), pasted
		}
		b.WriteString(rest[:at])
		from := b.Len()
		b.WriteString(c.value())
		if c.file == nil {
			pasted = append(pasted, [2]int{from, b.Len()})
		}
		rest = rest[at+len(c.label):]
	}
}

// firstChip returns the first chip in the text, and where it is.
func (e *Editor) firstChip(text string) (first *chip, at int) {
	for i := range e.chips {
		if n := strings.Index(text, e.chips[i].label); n >= 0 && (first == nil || n < at) {
			first, at = &e.chips[i], n
		}
	}
	return first, at
}

// Files returns the files whose chips stand in the text, in their order.
func (e *Editor) Files() []File {
	var out []File
	for rest := e.text; ; {
		c, at := e.firstChip(rest)
		if c == nil {
			return out
		}
		if c.file != nil {
			out = append(out, *c.file)
		}
		rest = rest[at+len(c.label):]
	}
}

// Attach adds a file as a chip. what says its kind and size.
func (e *Editor) Attach(f File, what string) {
	e.save(false)
	e.count++
	label := fmt.Sprintf("[%s %d, %s]", what, e.count, styled.OneLine(f.Name))
	e.chips = append(e.chips, chip{label: label, file: &f})
	e.insert(label + " ")
}

// Caret returns where the caret is, in bytes of Text.
func (e *Editor) Caret() int { return e.at }

// Empty reports whether nothing was typed.
func (e *Editor) Empty() bool { return e.text == "" }

// Set replaces the text and puts the caret at its end. Undo brings the old back.
func (e *Editor) Set(text string) {
	e.save(false)
	e.text, e.goal, e.sel = styled.Clean(text), -1, 0
	e.at = len(e.text)
}

// Reset empties the editor and forgets chips and undo.
func (e *Editor) Reset() { *e = Editor{count: e.count, goal: -1} }

// save remembers the present state for undo. Typing joins earlier typing.
func (e *Editor) save(typing bool) {
	if typing && e.typed {
		return
	}
	e.typed = typing
	e.redo = nil
	e.undo = append(e.undo, state{e.text, e.at})
	if len(e.undo) > maxUndo {
		e.undo = e.undo[len(e.undo)-maxUndo:]
	}
}

// Type inserts what was typed.
func (e *Editor) Type(text string) {
	text = styled.Clean(text)
	e.save(text != " " && text != "\n")
	e.insert(text)
}

func (e *Editor) insert(text string) {
	e.cut()
	e.text = e.text[:e.at] + text + e.text[e.at:]
	e.at += len(text)
	e.goal = -1
}

// Paste inserts a pasted text. Long text becomes a chip.
func (e *Editor) Paste(text string) {
	text = strings.TrimRight(styled.Clean(text), "\n")
	lines := strings.Count(text, "\n") + 1
	e.save(false)
	if lines <= chipLines && len(text) <= chipBytes {
		e.insert(text)
		return
	}
	e.Chip(e.pastedLabel(text), text)
}

// pastedLabel returns a new label for a pasted text.
func (e *Editor) pastedLabel(text string) string {
	e.count++
	return fmt.Sprintf("[pasted text %d, %s]", e.count, Extent(text))
}

// Extent says how long a text is, in lines or for a single line in characters.
func Extent(text string) string {
	if lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1; lines > 1 {
		return say.Plural(lines, "line")
	}
	return say.Plural(utf8.RuneCountInString(text), "character")
}

// Chip inserts a label that stands for content. The label is removed as a whole.
func (e *Editor) Chip(label, content string) {
	e.chips = append(e.chips, chip{label: label, content: content})
	e.insert(label)
}

// Replace replaces the bytes from a to the caret with text.
func (e *Editor) Replace(a int, text string) {
	if a < 0 || a > e.at {
		return
	}
	e.save(false)
	e.text = e.text[:a] + e.text[e.at:]
	e.at, e.sel = a, 0
	e.insert(styled.Clean(text))
}

// Do carries out an editing action and reports whether it was one and had an
// effect. Moves up and down need the layout; see [Editor.Vertical].
func (e *Editor) Do(a keys.Action) bool {
	var at int
	from, to, selected := e.Selection()
	switch a {
	case keys.Newline:
		e.Type("\n")
		return true
	case keys.Left:
		if at = e.before(); selected {
			at = from
		}
	case keys.Right:
		if at = e.after(); selected {
			at = to
		}
	case keys.LineHome:
		at = e.lineStart()
	case keys.LineEnd:
		at = e.lineEnd()
	case keys.BufferHome:
		at = 0
	case keys.BufferEnd:
		at = len(e.text)
	case keys.WordForward:
		at = e.wordAfter()
	case keys.WordBackward:
		at = e.wordBefore()
	case keys.InputUndo:
		return e.back(&e.undo, &e.redo)
	case keys.InputRedo:
		return e.back(&e.redo, &e.undo)
	default:
		return e.remove(a)
	}
	moved := at != e.at || selected
	e.at, e.goal, e.typed, e.sel = at, -1, false, 0
	return moved
}

func (e *Editor) remove(a keys.Action) bool {
	from, to := e.at, e.at
	first, last, selected := e.Selection()
	switch a {
	case keys.Backspace:
		from = e.before()
	case keys.DeleteChar:
		to = e.after()
	case keys.DeleteWordBack:
		from = e.wordBefore()
	case keys.DeleteWord:
		to = e.wordAfter()
	case keys.DeleteToStart:
		if from = e.lineStart(); from == e.at && from > 0 {
			from--
		}
	case keys.DeleteToEnd:
		if to = e.lineEnd(); to == e.at && to < len(e.text) {
			to++
		}
	case keys.DeleteLine:
		if from, to = e.lineStart(), e.lineEnd(); to < len(e.text) {
			to++
		}
	default:
		return false
	}
	if selected {
		from, to = first, last
	}
	if from == to {
		return false
	}
	e.save(false)
	e.text = e.text[:from] + e.text[to:]
	e.at, e.goal, e.sel = from, -1, 0
	return true
}

func (e *Editor) back(from, to *[]state) bool {
	n := len(*from)
	if n == 0 {
		return false
	}
	s := (*from)[n-1]
	*from = (*from)[:n-1]
	*to = append(*to, state{e.text, e.at})
	e.text, e.at, e.goal, e.typed, e.sel = s.text, s.at, -1, false, 0
	return true
}

// before returns the start of the cluster or chip before the caret.
func (e *Editor) before() int {
	for _, c := range e.chips {
		if strings.HasSuffix(e.text[:e.at], c.label) {
			return e.at - len(c.label)
		}
	}
	last, start := 0, e.lineStart()
	if start == e.at {
		return max(e.at-1, 0) // the line break
	}
	for at := start; at < e.at; {
		c, _ := styled.Cluster(e.text[at:], styled.Grapheme)
		last = at
		at += len(c)
	}
	return last
}

// after returns the end of the cluster or chip after the caret.
func (e *Editor) after() int {
	if e.at == len(e.text) {
		return e.at
	}
	for _, c := range e.chips {
		if strings.HasPrefix(e.text[e.at:], c.label) {
			return e.at + len(c.label)
		}
	}
	c, _ := styled.Cluster(e.text[e.at:], styled.Grapheme)
	return e.at + len(c)
}

func (e *Editor) lineStart() int { return strings.LastIndexByte(e.text[:e.at], '\n') + 1 }

func (e *Editor) lineEnd() int {
	if i := strings.IndexByte(e.text[e.at:], '\n'); i >= 0 {
		return e.at + i
	}
	return len(e.text)
}

func word(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '_'
}

func (e *Editor) wordAfter() int {
	at := e.at
	for skip := true; at < len(e.text); {
		r, n := utf8.DecodeRuneInString(e.text[at:])
		if word(r) {
			skip = false
		} else if !skip {
			break
		}
		at += n
	}
	return e.align(at)
}

func (e *Editor) wordBefore() int {
	if at := e.before(); at < e.at && e.text[e.at-1] == ']' && e.at-at > 1 {
		return at // a chip
	}
	at := e.at
	for skip := true; at > 0; {
		r, n := utf8.DecodeLastRuneInString(e.text[:at])
		if word(r) {
			skip = false
		} else if !skip {
			break
		}
		at -= n
	}
	return e.align(at)
}

// align moves a position back to the start of its cluster.
func (e *Editor) align(pos int) int {
	start := strings.LastIndexByte(e.text[:pos], '\n') + 1
	for at := start; at < pos; {
		c, _ := styled.Cluster(e.text[at:], styled.Grapheme)
		if at+len(c) > pos {
			return at
		}
		at += len(c)
	}
	return pos
}
