package look

import (
	"strings"

	"lathe/internal/printable"
	"lathe/internal/tui/styled"
)

// Printed returns the last lines of what a program printed, in its colours as far as they can be
// read here, and how many lines come before them. What has no look of its own is drawn in plain.
func (l Look) Printed(text string, most int, plain styled.Style) (lines []styled.Line, before int) {
	runs := printable.Runs(text, styled.Overwriting)
	trim(runs)
	runs, before = lastLines(runs, most)
	styles := map[printable.Look]styled.Style{{}: plain}
	lines = make([]styled.Line, 1)
	for _, r := range runs {
		style, known := styles[r.Look]
		if !known {
			style = l.Theme.Printed(r.Look)
			styles[r.Look] = style
		}
		for i, part := range strings.Split(r.Text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if part != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], styled.Span{Text: part, Style: style})
			}
		}
	}
	return lines, before
}

// trim removes line breaks at the beginning and the end.
func trim(runs []printable.Run) {
	for i := range runs {
		if runs[i].Text = strings.TrimLeft(runs[i].Text, "\n"); runs[i].Text != "" {
			break
		}
	}
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].Text = strings.TrimRight(runs[i].Text, "\n"); runs[i].Text != "" {
			break
		}
	}
}

// lastLines returns the runs of the last lines, and how many lines come before them.
func lastLines(runs []printable.Run, most int) (last []printable.Run, before int) {
	left := most
	for i := len(runs) - 1; i >= 0; i-- {
		text := runs[i].Text
		for at := len(text); ; {
			if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
				break
			}
			if left--; left > 0 {
				continue
			}
			before = 1 + strings.Count(text[:at], "\n")
			for _, r := range runs[:i] {
				before += strings.Count(r.Text, "\n")
			}
			runs[i].Text = text[at+1:]
			return runs[i:], before
		}
	}
	return runs, 0
}
