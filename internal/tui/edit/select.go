package edit

import (
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
)

// Selection returns the bytes of Text that are selected; from is before to. What
// is typed takes their place.
func (e *Editor) Selection() (from, to int, ok bool) {
	from, to = e.sel-1, e.at
	if from > to {
		from, to = to, from
	}
	return from, to, e.sel > 0 && from < to
}

// Selected returns the text that is selected, with chips as their labels.
func (e *Editor) Selected() string {
	from, to, ok := e.Selection()
	if !ok {
		return ""
	}
	return e.text[from:to]
}

// Unselect ends the selection; the text stays.
func (e *Editor) Unselect() { e.sel = 0 }

// cut removes what is selected. Saving for undo is up to the caller.
func (e *Editor) cut() {
	if from, to, ok := e.Selection(); ok {
		e.text, e.at = e.text[:from]+e.text[to:], from
	}
	e.sel = 0
}

// moving returns the move that extends the selection by an action.
func moving(a keys.Action) keys.Action {
	switch a {
	case keys.SelectLeft:
		return keys.Left
	case keys.SelectRight:
		return keys.Right
	case keys.SelectHome:
		return keys.LineHome
	case keys.SelectEnd:
		return keys.LineEnd
	case keys.SelectBufHome:
		return keys.BufferHome
	case keys.SelectBufEnd:
		return keys.BufferEnd
	case keys.SelectWord:
		return keys.WordForward
	case keys.SelectWordBack:
		return keys.WordBackward
	case keys.SelectVHome:
		return keys.VisualHome
	case keys.SelectVEnd:
		return keys.VisualEnd
	}
	return ""
}

// extend makes a move that keeps the other end of the selection where it is.
func (e *Editor) extend(move func() bool) bool {
	from := e.sel
	if from == 0 {
		from = e.at + 1
	}
	e.sel = 0
	moved := move()
	e.sel = from
	return moved
}

// DoShown carries out an action in an editor that shows its rows and the
// selection: those of [Editor.Do], those that select, and those that depend on
// rows. Plain moves up and down are [Editor.Vertical].
func (e *Editor) DoShown(a keys.Action, width int, m styled.Method) bool {
	switch a {
	case keys.SelectAll:
		e.sel, e.at, e.goal, e.typed = 1, len(e.text), -1, false
		return e.text != ""
	case keys.VisualHome, keys.VisualEnd:
		rows, row, _ := e.Layout(width, m)
		r := rows[row]
		at := r.From
		if a == keys.VisualEnd {
			at = r.To
			if row+1 < len(rows) && rows[row+1].From == r.To { // the end of a row that wraps is the start of the next one
				was := e.at
				e.at = at
				at = e.before()
				e.at = was
			}
		}
		moved := at != e.at
		e.at, e.goal, e.typed, e.sel = at, -1, false, 0
		return moved
	case keys.SelectUp, keys.SelectDown:
		dir, edge := -1, 0
		if a == keys.SelectDown {
			dir, edge = 1, len(e.text)
		}
		return e.extend(func() bool {
			if !e.Vertical(dir, width, m) {
				e.at = edge
			}
			return true
		})
	}
	if move := moving(a); move != "" {
		return e.extend(func() bool { return e.DoShown(move, width, m) })
	}
	return e.Do(a)
}
