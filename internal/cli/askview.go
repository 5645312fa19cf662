package cli

import (
	"strings"

	"lathe"
	"lathe/internal/approval"
	"lathe/internal/diff"
)

// ask shows everything a permission ask is about, to the last line.
func (o *output) ask(a lathe.Ask) {
	st := o.style
	o.errLine(st.yellow("permission ") + st.bold(oneLine(a.Permission, 100)))
	for _, f := range approval.Facts(a) {
		label := f.Label
		if label != "" {
			label += ": "
		}
		switch f.Kind {
		case approval.Purpose:
			o.lines("  ", st.dim(strings.TrimSpace(clean(f.Text))))
		case approval.Command:
			o.lines("  ", "$ "+st.bold(strings.TrimSpace(clean(f.Text))))
		case approval.Step:
			o.lines("    "+f.Label+" ", clean(f.Text))
		case approval.Careful:
			o.lines("  ", st.yellow(label+clean(f.Text)))
		case approval.Content:
			o.errLine("  " + label)
			o.lines("    ", strings.TrimSuffix(clean(f.Text), "\n"))
		case approval.Diff:
			o.changes(f.Text)
		default:
			o.lines("  ", label+clean(f.Text))
		}
	}
}

// lines shows a whole text, each line after the margin.
func (o *output) lines(margin, text string) {
	for _, l := range strings.Split(text, "\n") {
		o.errLine(margin + l)
	}
}

// changes shows a whole diff.
func (o *output) changes(d string) {
	for _, l := range diffLinesOf(o.style, d) {
		o.errLine("    " + l.paint(l.text))
	}
}

// shownLine is a line of a diff, and its colour.
type shownLine struct {
	text  string
	paint func(string) string
}

// diffLinesOf returns the lines of a diff as they are shown: without file names,
// which are shown above.
func diffLinesOf(st style, d string) []shownLine {
	var out []shownLine
	for _, l := range diff.Read(d) {
		text, paint := string(l.Mark)+clean(l.Text), func(s string) string { return s }
		switch l.Mark {
		case diff.MarkFile:
			continue
		case diff.MarkNew:
			paint = st.green
		case diff.MarkGone:
			paint = st.red
		case diff.MarkHunk:
			text, paint = clean(l.Text), st.blue
		case diff.MarkOther:
			text = clean(l.Text)
		}
		out = append(out, shownLine{text, paint})
	}
	return out
}
