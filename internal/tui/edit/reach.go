package edit

import (
	"strings"

	"lathe/internal/tui/styled"
)

// LineStart returns where the line of the caret begins, in bytes of Text.
func (e *Editor) LineStart() int { return e.lineStart() }

// LineEnd returns where the line of the caret ends.
func (e *Editor) LineEnd() int { return e.lineEnd() }

// Aligned returns the start of the cluster or chip that a position is in.
func (e *Editor) Aligned(pos int) int {
	pos = e.align(max(0, min(pos, len(e.text))))
	if from, _ := e.Whole(pos, pos); from < pos {
		return from
	}
	return pos
}

// AfterAt returns the end of the cluster or chip at a position.
func (e *Editor) AfterAt(pos int) int {
	was := e.at
	e.at = max(0, min(pos, len(e.text)))
	defer func() { e.at = was }()
	return e.after()
}

// MoveTo puts the caret at a position, or at the beginning of the cluster or chip that it is in.
func (e *Editor) MoveTo(pos int) { e.at, e.goal, e.typed, e.sel = e.Aligned(pos), -1, false, 0 }

// Select selects from a position to the caret's next one.
func (e *Editor) Select(from, to int) {
	e.sel, e.at = max(0, min(from, len(e.text)))+1, max(0, min(to, len(e.text)))
	e.goal, e.typed = -1, false
}

// Whole widens a stretch of the text so that no chip is cut.
func (e *Editor) Whole(from, to int) (int, int) {
	for _, c := range e.chips {
		i := strings.Index(e.text, c.label)
		if i < 0 {
			continue
		}
		end := i + len(c.label)
		if i < from && from < end {
			from = i
		}
		if i < to && to < end {
			to = end
		}
	}
	return from, to
}

// Cut removes a stretch of the text and puts the caret there.
func (e *Editor) Cut(from, to int) {
	if from >= to {
		return
	}
	e.save(false)
	e.text, e.at, e.sel, e.goal = e.text[:from]+e.text[to:], from, 0, -1
}

// Put inserts a text at the caret as one change.
func (e *Editor) Put(text string) {
	if text == "" {
		return
	}
	e.save(false)
	e.sel = 0
	e.insert(styled.Clean(text))
}

// CanMove reports whether there is a row above (-1) or below (1) the caret's.
func (e *Editor) CanMove(dir, width int, m styled.Method) bool {
	rows, row, _ := e.Layout(width, m)
	return row+dir >= 0 && row+dir < len(rows)
}
