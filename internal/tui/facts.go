package tui

import (
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// facts draws pages of names and values.
type facts struct {
	l   look
	out []styled.Line
}

func (f *facts) head(text string) {
	if len(f.out) > 0 {
		f.out = append(f.out, nil)
	}
	f.out = append(f.out, styled.Plain(text, f.l.fg(theme.Secondary, styled.Bold)))
}

func (f *facts) row(name, value string) { f.colored(name, value, theme.Text) }

func (f *facts) colored(name, value string, key theme.Key) {
	const left = 22
	for i, line := range styled.Wrap(styled.Plain(styled.OneLine(value), f.l.fg(key)), max(20, f.l.width-left-4), f.l.method) {
		label := styled.OneLine(name)
		if i > 0 {
			label = ""
		}
		f.out = append(f.out, append(styled.Plain(label, f.l.fg(theme.Muted)).Cut(left-1, f.l.method).Pad(left, f.l.method, ""), line...))
	}
}

func (f *facts) note(text string) {
	f.out = append(f.out, styled.Wrap(styled.Plain(styled.OneLine(text), f.l.fg(theme.Muted)), max(20, f.l.width-4), f.l.method)...)
}
