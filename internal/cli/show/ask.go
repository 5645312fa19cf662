package show

import (
	"strings"

	"lathe"
	"lathe/internal/approval"
	"lathe/internal/cli/console"
	"lathe/internal/diff"
	"lathe/internal/tui/change"
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
	for _, l := range o.change(d) {
		o.ErrLine("    " + l)
	}
}

// change returns the lines of a diff: in colours as the screen draws them, with numbers and with
// the words that changed marked; else as they are, without the names of files, which are
// shown above.
func (o *Output) change(d string) (out []string) {
	if o.colours.on() {
		l := o.colours.look(o.width() - 5)
		for _, line := range change.Draw(l, d, l.Width) {
			out = append(out, strings.TrimRight(line.String(), " "))
		}
		return out
	}
	for _, l := range diff.Read(d) {
		switch l.Mark {
		case diff.MarkFile:
		case diff.MarkHunk, diff.MarkOther:
			out = append(out, console.Clean(l.Text))
		default:
			out = append(out, string(l.Mark)+console.Clean(l.Text))
		}
	}
	return out
}
