package edit

import "lathe/internal/tui/styled"

// OneRow is [OneRow] for all that was written.
func (e *Editor) OneRow(width int, m styled.Method) (text string, caret int) {
	return OneRow(e.text, e.at, width, m)
}

// OneRow returns what of a text on one line is shown in a row of a width, and the cell of the
// caret in it. Where the row has no room for all of it, the part with the caret is shown, and
// an ellipsis stands for what is left out before it; input methods open at the caret, so it has
// to stand where the text does.
func OneRow(all string, at, width int, m styled.Method) (text string, caret int) {
	before, after := all[:at], all[at:]
	room := max(width-1, 1) // the caret's own cell stays free
	caret = styled.Width(before, m)
	if caret <= room {
		return styled.Plain(all).Cut(max(width, 1), m).Text(), caret
	}
	for before != "" && caret >= room { // the ellipsis takes one
		c, w := styled.Cluster(before, m)
		before, caret = before[len(c):], caret-w
	}
	return "…" + styled.Plain(before+after).Cut(max(width-1, 1), m).Text(), caret + 1
}
