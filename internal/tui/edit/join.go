package edit

import (
	"fmt"
	"strings"

	"lathe/internal/tui/styled"
)

// Between stands between a text and what is put above it.
const Between = "\n\n"

// Written is a text that was sent, and where in it pasted texts are, as [from, to] in bytes, in
// their order.
type Written struct {
	Text   string
	Pasted [][2]int
}

// Join returns texts one below the other, with an empty line between them.
func Join(list []Written) Written {
	var b strings.Builder
	var pasted [][2]int
	for i, w := range list {
		if i > 0 {
			b.WriteString(Between)
		}
		for _, p := range w.Pasted {
			pasted = append(pasted, [2]int{p[0] + b.Len(), p[1] + b.Len()})
		}
		b.WriteString(w.Text)
	}
	return Written{b.String(), pasted}
}

// Above puts what was sent before what is written, if anything is, with an empty line between
// them. Pasted texts are chips again. Chips and files that are there stay.
func (e *Editor) Above(w Written) {
	e.save(false)
	text := e.folded(w)
	if e.text != "" {
		text += Between + e.text
	}
	e.text, e.goal, e.sel = text, -1, 0
	e.at = len(e.text)
}

// folded returns what was sent with new chips for what was pasted.
func (e *Editor) folded(w Written) string {
	var b strings.Builder
	at := 0
	for _, p := range w.Pasted {
		b.WriteString(styled.Clean(w.Text[at:p[0]]))
		content := styled.Clean(w.Text[p[0]:p[1]])
		c := chip{label: e.pastedLabel(content), content: content}
		e.chips = append(e.chips, c)
		b.WriteString(c.label)
		at = p[1]
	}
	b.WriteString(styled.Clean(w.Text[at:]))
	return b.String()
}

// DropAbove takes a text away that [Editor.Above] put there, and reports whether it still stood
// there. What was written below it stays.
func (e *Editor) DropAbove(text string) bool {
	above, rest := styled.Clean(text)+Between, e.text
	for {
		c, at := e.firstChip(rest)
		if c == nil || at >= len(above) {
			break
		}
		ok := false
		if above, ok = strings.CutPrefix(above, rest[:at]+c.value()); !ok {
			return false
		}
		rest = rest[at+len(c.label):]
	}
	rest, ok := strings.CutPrefix(rest, above)
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
