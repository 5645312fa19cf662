package dialog

import (
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Facts draws pages of names and values.
type Facts struct {
	Look look.Look
	Out  []styled.Line
}

func (f *Facts) Head(text string) {
	if len(f.Out) > 0 {
		f.Out = append(f.Out, nil)
	}
	f.Out = append(f.Out, styled.Plain(f.Look.T(text), f.Look.FG(theme.Secondary, styled.Bold)))
}

func (f *Facts) Row(name, value string) { f.Colored(name, value, theme.Text) }

func (f *Facts) Colored(name, value string, key theme.Key) {
	const left = 22
	for i, line := range styled.Wrap(styled.Plain(styled.OneLine(f.Look.T(value)), f.Look.FG(key)), max(20, f.Look.Width-left-4), f.Look.Method) {
		label := styled.OneLine(f.Look.Say.Word(name))
		if i > 0 {
			label = ""
		}
		f.Out = append(f.Out, append(styled.Plain(label, f.Look.FG(theme.Muted)).Cut(left-1, f.Look.Method).Pad(left, f.Look.Method, ""), line...))
	}
}

func (f *Facts) Note(text string) {
	f.Out = append(f.Out, styled.Wrap(styled.Plain(styled.OneLine(f.Look.T(text)), f.Look.FG(theme.Muted)), max(20, f.Look.Width-4), f.Look.Method)...)
}
