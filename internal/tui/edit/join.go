package edit

import (
	"fmt"
	"strings"

	"lathe/internal/tui/styled"
)

// between stands between a text and what is put above it.
const between = "\n\n"

// Above puts a text before what is written, if anything is, with an empty line between them.
// Chips and files stay.
func (e *Editor) Above(text string) {
	if e.text == "" {
		e.Set(text)
		return
	}
	e.save(false)
	e.text, e.goal, e.sel = styled.Clean(text)+between+e.text, -1, 0
	e.at = len(e.text)
}

// DropAbove takes a text away that [Editor.Above] put there, and reports whether it still stood
// there. What was written below it stays.
func (e *Editor) DropAbove(text string) bool {
	rest, ok := strings.CutPrefix(e.text, styled.Clean(text)+between)
	if ok {
		e.save(false)
		e.text, e.at, e.goal, e.sel = rest, len(rest), -1, 0
	}
	return ok
}

// Below adds what is written elsewhere on lines of its own, with its chips and files, and puts
// the caret where it stands there.
func (e *Editor) Below(other Editor) {
	if e.text == "" {
		*e = other
		return
	}
	e.save(false)
	for _, c := range other.chips {
		if old := c.label; strings.Contains(e.text, old) {
			e.count++
			c.label = fmt.Sprintf("%s, %d]", strings.TrimSuffix(old, "]"), e.count)
			at := strings.Count(other.text[:other.at], old)
			other.text = strings.ReplaceAll(other.text, old, c.label)
			other.at += at * (len(c.label) - len(old))
		}
		e.chips = append(e.chips, c)
	}
	e.text = strings.TrimRight(e.text, "\n") + "\n"
	e.at, e.goal, e.sel = len(e.text)+other.at, -1, 0
	e.text += other.text
	e.count = max(e.count, other.count)
}
