package edit

import (
	"strings"

	"lathe/internal/tui/styled"
)

// Row is a stretch of the text that is shown on one line.
type Row struct{ From, To int }

// Layout breaks the text into rows that, with the caret after them, fit into
// width cells, and returns the row and column of the caret.
func (e *Editor) Layout(width int, m styled.Method) (rows []Row, row, col int) {
	width = max(width-1, 2)
	start := 0
	for {
		end := len(e.text)
		if i := strings.IndexByte(e.text[start:], '\n'); i >= 0 {
			end = start + i
		}
		rows = e.rows(rows, start, end, width, m)
		if end == len(e.text) {
			break
		}
		start = end + 1
	}
	row = rowOf(rows, e.at)
	return rows, row, styled.Width(e.text[rows[row].From:e.at], m)
}

// rows appends the rows of one line.
func (e *Editor) rows(rows []Row, from, end, width int, m styled.Method) []Row {
	used, brk := 0, -1 // brk: where a word began
	for at := from; at < end; {
		c, w := styled.Cluster(e.text[at:end], m)
		if used+w > width && at > from {
			cut := at
			if brk > from && c != " " {
				cut = brk
			}
			rows = append(rows, Row{from, cut})
			from, brk = cut, -1
			used = styled.Width(e.text[from:at], m)
		}
		used += w
		at += len(c)
		if c == " " || w > 1 {
			brk = at
		}
	}
	return append(rows, Row{from, end})
}

// rowOf returns the row of a position: where two rows meet, the later one.
func rowOf(rows []Row, at int) int {
	row := 0
	for i, r := range rows {
		if r.From <= at {
			row = i
		}
	}
	return row
}

// Vertical moves the caret up (-1) or down (1) by a row as laid out, and reports
// false at the first or last one.
func (e *Editor) Vertical(dir, width int, m styled.Method) bool {
	rows, row, col := e.Layout(width, m)
	next := row + dir
	if next < 0 || next >= len(rows) {
		return false
	}
	if e.goal < 0 {
		e.goal = col
	}
	e.at, e.typed, e.sel = e.at0(rows, next, m), false, 0
	e.leaveChip()
	return true
}

// Place sets the caret to a row and column as laid out, or to what is nearest.
func (e *Editor) Place(row, col, width int, m styled.Method) {
	rows, _, _ := e.Layout(width, m)
	e.goal = max(col, 0)
	e.at = e.at0(rows, max(0, min(row, len(rows)-1)), m)
	e.goal, e.typed, e.sel = -1, false, 0
	e.leaveChip()
}

// leaveChip moves the caret out of a chip, to its nearer end.
func (e *Editor) leaveChip() {
	for _, c := range e.chips {
		if i := strings.Index(e.text, c.label); i >= 0 && i < e.at && e.at < i+len(c.label) {
			if e.at-i < len(c.label)/2 {
				e.at = i
			} else {
				e.at = i + len(c.label)
			}
		}
	}
}

// at0 returns the position in a row that is nearest to the goal column.
func (e *Editor) at0(rows []Row, row int, m styled.Method) int {
	r, used := rows[row], 0
	for at := r.From; at < r.To; {
		c, w := styled.Cluster(e.text[at:r.To], m)
		if used+w > e.goal {
			return at
		}
		if at+len(c) == r.To && row+1 < len(rows) && rows[row+1].From == r.To {
			return at // the end of a row that wraps is the start of the next one
		}
		used += w
		at += len(c)
	}
	return r.To
}
