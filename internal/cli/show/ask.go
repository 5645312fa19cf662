package show

import (
	"strings"

	"lathe"
	"lathe/internal/approval"
	"lathe/internal/cli/console"
	"lathe/internal/diff"
)

// Ask shows everything a permission ask is about, to the last line.
func (o *Output) Ask(a lathe.Ask) {
	st := o.Style
	o.ErrLine(st.Yellow(o.say("permission")+" ") + st.Bold(console.OneLine(o.say(approval.Name(a.Permission)), 100)))
	for _, f := range approval.Facts(a) {
		label := o.say(f.Label)
		if label != "" {
			label += ": "
		}
		switch f.Kind {
		case approval.Purpose:
			o.lines("  ", st.Dim(strings.TrimSpace(console.Clean(f.Text))))
		case approval.Command:
			o.lines("  ", "$ "+st.Bold(strings.TrimSpace(console.Clean(f.Text))))
		case approval.Step:
			o.lines("    "+f.Label+" ", console.Clean(f.Text))
		case approval.Careful:
			o.lines("  ", st.Yellow(label+console.Clean(o.say(f.Text))))
		case approval.Also:
			o.lines("  ", label+console.Clean(o.say(f.Text)))
		case approval.Content:
			o.ErrLine("  " + label)
			o.lines("    ", strings.TrimSuffix(console.Clean(f.Text), "\n"))
		case approval.Diff:
			o.changes(f.Text)
		default:
			o.lines("  ", label+console.Clean(f.Text))
		}
	}
}

// lines shows a whole text, each line after the margin.
func (o *Output) lines(margin, text string) {
	for _, l := range strings.Split(text, "\n") {
		o.ErrLine(margin + l)
	}
}

// changes shows a whole diff.
func (o *Output) changes(d string) {
	for _, l := range diffLinesOf(o.Style, d) {
		o.ErrLine("    " + l.paint(l.text))
	}
}

// shownLine is a line of a diff, and its colour.
type shownLine struct {
	text  string
	paint func(string) string
}

// diffLinesOf returns the lines of a diff as they are shown: without file names,
// which are shown above.
func diffLinesOf(st console.Style, d string) []shownLine {
	var out []shownLine
	for _, l := range diff.Read(d) {
		text, paint := string(l.Mark)+console.Clean(l.Text), func(s string) string { return s }
		switch l.Mark {
		case diff.MarkFile:
			continue
		case diff.MarkNew:
			paint = st.Green
		case diff.MarkGone:
			paint = st.Red
		case diff.MarkHunk:
			text, paint = console.Clean(l.Text), st.Blue
		case diff.MarkOther:
			text = console.Clean(l.Text)
		}
		out = append(out, shownLine{text, paint})
	}
	return out
}
