package markdown

import (
	"slices"
	"strings"

	"lathe/internal/markup"
	"lathe/internal/tui/styled"
)

// table draws a table as wide as its content, or as narrow as the screen requires.
func (r renderer) table(src []string, width int) ([]styled.Line, int) {
	aligns := markup.Cells(src[1])
	n := len(aligns)
	var rows [][]styled.Line
	used := 2
	rows = append(rows, r.row(markup.Cells(src[0]), n, r.Strong))
	for ; used < len(src) && strings.Contains(src[used], "|"); used++ {
		rows = append(rows, r.row(markup.Cells(src[used]), n, r.Text))
	}
	if n > 1 && width-3*(n-1) < n*legible {
		return r.records(rows, width), used
	}
	widths := r.columns(rows, n, width)
	var out []styled.Line
	for i, row := range rows {
		out = append(out, r.drawRow(row, widths, aligns)...)
		if i == 0 {
			out = append(out, r.underline(widths))
		}
	}
	return out, used
}

// legible is the least width of a column on average, in cells. A table that has less room is
// drawn row by row.
const legible = 5

// records draws each row by itself, each cell behind the name of its column.
func (r renderer) records(rows [][]styled.Line, width int) []styled.Line {
	var out []styled.Line
	for i, row := range rows[1:] {
		if i > 0 {
			out = append(out, styled.Plain(strings.Repeat(r.Dash, min(width, 8)), r.Rule))
		}
		for j, cell := range row {
			line := cell
			if name := rows[0][j]; len(name) > 0 {
				line = styled.Join(name, styled.Plain(": ", r.Rule), cell)
			}
			out = append(out, styled.Wrap(line, width, r.m)...)
		}
	}
	if len(rows) == 1 {
		for _, name := range rows[0] {
			out = append(out, styled.Wrap(name, width, r.m)...)
		}
	}
	return out
}

func (r renderer) row(texts []string, n int, style styled.Style) []styled.Line {
	row := make([]styled.Line, n)
	for i := range min(n, len(texts)) {
		row[i] = r.inline(strings.ReplaceAll(texts[i], `\|`, "|"), style)
	}
	return row
}

// columns returns the widths of the columns: those of the content, with the
// widest shrunk until the row fits.
func (r renderer) columns(rows [][]styled.Line, n, width int) []int {
	widths := make([]int, n)
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], c.Width(r.m), 1)
		}
	}
	room := max(width-3*(n-1), n*3)
	for total := sum(widths); total > room; total = sum(widths) {
		i := widest(widths)
		if widths[i] <= 3 {
			break
		}
		next := 3
		for j, w := range widths {
			if j != i {
				next = max(next, min(w, widths[i]-1))
			}
		}
		widths[i] = max(next, widths[i]-(total-room), 3)
	}
	return widths
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

func widest(list []int) int { return slices.Index(list, slices.Max(list)) }

func (r renderer) drawRow(row []styled.Line, widths []int, aligns []string) []styled.Line {
	wrapped := make([][]styled.Line, len(row))
	height := 1
	for i, c := range row {
		wrapped[i] = styled.Wrap(c, widths[i], r.m)
		for _, line := range wrapped[i] {
			if len(line) > 0 {
				line[0].Cont = styled.Own // the cells next to it continue too
			}
		}
		height = max(height, len(wrapped[i]))
	}
	out := make([]styled.Line, height)
	for y := range out {
		var line styled.Line
		for i := range row {
			var cell styled.Line
			if y < len(wrapped[i]) {
				cell = wrapped[i][y]
			}
			if i > 0 {
				line = append(line, styled.Span{Text: " " + r.Bar + " ", Style: r.Rule})
			}
			line = append(line, align(cell, widths[i], aligns[i], r.m)...)
		}
		out[y] = line
	}
	return out
}

func align(cell styled.Line, width int, how string, m styled.Method) styled.Line {
	gap := max(0, width-cell.Width(m))
	left := 0
	switch {
	case strings.HasPrefix(how, ":") && strings.HasSuffix(how, ":"):
		left = gap / 2
	case strings.HasSuffix(how, ":"):
		left = gap
	}
	if left > 0 {
		cell = styled.Join(styled.Plain(strings.Repeat(" ", left)), cell)
	}
	if gap > left {
		cell = styled.Join(cell, styled.Plain(strings.Repeat(" ", gap-left)))
	}
	return cell
}

func (r renderer) underline(widths []int) styled.Line {
	cross := r.Dash + "+" + r.Dash
	if r.Bar == "│" {
		cross = "─┼─"
	}
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat(r.Dash, w)
	}
	return styled.Plain(strings.Join(parts, cross), r.Rule)
}
