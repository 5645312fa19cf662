// Package change draws changes of files, which come as unified diffs, and says them in
// words.
package change

import (
	"fmt"
	"strconv"
	"strings"

	"lathe/internal/diff"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// sideBySide is the width from which a change is drawn in two columns.
const sideBySide = 130

// change is one line of a diff: its kind and its text.
type change struct {
	op       byte // ' ', '-', '+', '@' for a hunk, '#' for a file
	old, new int
	text     string
	// changed are the parts of the text that differ from the line it stands for, or stood for.
	changed []diff.Span
}

// parseDiff reads a unified diff. A line broken by a carriage return or the like
// becomes several lines, all of them shown.
func parseDiff(text string) []change {
	var out []change
	for _, l := range diff.Read(text) {
		op := byte(l.Mark)
		if l.Mark == diff.MarkOther {
			op = ' '
		}
		for i, part := range strings.Split(strings.TrimSuffix(styled.Clean(l.Text), "\n"), "\n") {
			c := change{op: op, text: part}
			if i == 0 {
				c.old, c.new = l.Old, l.New
			}
			out = append(out, c)
		}
	}
	return out
}

// Draw draws a unified diff, in two columns where there is room.
func Draw(l look.Look, text string, width int) []styled.Line {
	list := parseDiff(text)
	files, hunks, last := 0, 0, 0
	for _, c := range list {
		last = max(last, c.old, c.new)
		if c.op == '#' {
			files++
		}
	}
	digits := Digits(last)
	mark(list)
	var out []styled.Line
	for i := 0; i < len(list); i++ {
		switch c := list[i]; c.op {
		case '#':
			hunks = 0
			if files > 1 {
				out = append(out, styled.Plain(c.text, l.FG(theme.Text, styled.Bold)).Cut(width, l.Method))
			}
		case '@':
			if hunks++; hunks > 1 {
				out = append(out, styled.Plain(l.Glyph("⋯", "..."), l.FG(theme.DiffHunk)))
			}
		default:
			if width < sideBySide || l.Stacked {
				out = append(out, changeLines(l, c, digits, width)...)
				continue
			}
			n := blockEnd(list, i)
			out = append(out, columnsOf(l, list[i:n], digits, width)...)
			i = n - 1
		}
	}
	return out
}

// blockEnd returns where the removals at i, and the additions after them, end.
func blockEnd(list []change, i int) int {
	if list[i].op == ' ' {
		return i + 1
	}
	for i < len(list) && list[i].op == '-' {
		i++
	}
	for i < len(list) && list[i].op == '+' {
		i++
	}
	return i
}

func changeStyle(l look.Look, op byte) (fg, bg styled.Style) {
	switch op {
	case '+':
		return l.FG(theme.DiffAdded), l.Theme.BG(theme.DiffAddedBg)
	case '-':
		return l.FG(theme.DiffRemoved), l.Theme.BG(theme.DiffRemovedBg)
	}
	return l.FG(theme.Muted), ""
}

// changeLines draws a line of a diff across the width.
func changeLines(l look.Look, c change, digits, width int) []styled.Line {
	fg, bg := changeStyle(l, c.op)
	number := max(c.new, c.old)
	var out []styled.Line
	for i, part := range styled.Hard(c.line(fg), max(width-digits-4, 8), l.Method) {
		label := []string{Number(0, digits), "  "}
		if i == 0 {
			label = []string{Number(number, digits), string(c.op) + " "}
			part = begun(part)
		}
		line := append(styled.Line{{Text: label[0], Style: l.FG(theme.DiffNumber)}, {Text: label[1], Style: fg}}, append(part, styled.Span{Cont: styled.End})...)
		out = append(out, line.Pad(width, l.Method, "").Over(bg))
	}
	return out
}

// begun marks where the text of a line begins, after its number and sign.
func begun(text styled.Line) styled.Line {
	return append(styled.Line{{Cont: styled.Begin}}, text...)
}

// Digits is how wide the numbers of lines are drawn, so that all lines begin in one column.
func Digits(last int) int { return max(4, len(strconv.Itoa(last))) }

// Number is the number of a line; one that goes on from the line before has none, 0.
func Number(n, digits int) string {
	if n == 0 {
		return strings.Repeat(" ", digits+1)
	}
	return fmt.Sprintf("%*d ", digits, n)
}

// columnsOf draws a block of changes with the old lines on the left and the new ones on the right.
func columnsOf(l look.Look, block []change, digits, width int) []styled.Line {
	half := (width - 3) / 2
	var left, right []change
	for _, c := range block {
		if c.op != '+' {
			left = append(left, c)
		}
		if c.op != '-' {
			right = append(right, c)
		}
	}
	var out []styled.Line
	for i := range max(len(left), len(right)) {
		line := halfOf(l, left, i, half, func(c change) string { return Number(c.old, digits) })
		line = append(line, styled.Span{Text: " " + l.Glyph("│", "|") + " ", Style: l.FG(theme.Border), Cont: styled.Beside})
		out = append(out, append(line, halfOf(l, right, i, half, func(c change) string { return Number(c.new, digits) })...))
	}
	return out
}

func halfOf(l look.Look, side []change, i, width int, number func(change) string) styled.Line {
	if i >= len(side) {
		return begun(nil).Pad(width, l.Method, "")
	}
	fg, bg := changeStyle(l, side[i].op)
	line := styled.Line{{Text: number(side[i]), Style: l.FG(theme.DiffNumber)}, {Text: string(side[i].op) + " ", Style: fg}}
	line = append(line, begun(side[i].line(fg))...)
	return line.Cut(width, l.Method).Pad(width, l.Method, "").Over(bg)
}

// Change is a line of a diff in words.
type Change struct {
	What string // "removed" or "added"
	Line int
	Text string
}

// Changes returns what a unified diff removes and adds.
func Changes(diff string) []Change {
	var out []Change
	for _, c := range parseDiff(diff) {
		switch c.op {
		case '-':
			out = append(out, Change{"removed", c.old, c.text})
		case '+':
			out = append(out, Change{"added", c.new, c.text})
		}
	}
	return out
}
