package show

import (
	"strings"

	"lathe/internal/say"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// printed shows the end of what a command printed, in its colours as far as they can be read on
// the terminal's background.
func (o *Output) printed(text string) {
	l, plain := look.Look{Theme: theme.Terminal()}, styled.Style("")
	if o.colours.on() {
		l = o.colours.look(o.width())
		if plain = l.FG(theme.Muted); plain == "" {
			plain = styled.Faint
		}
	}
	lines, before := l.Printed(text, previewLines, plain)
	if before == 0 && len(lines) == 1 && strings.TrimSpace(lines[0].Text()) == "" {
		return
	}
	if before > 0 {
		o.ErrLine(o.Style.Dim("    … " + o.say(say.Plural(before, "line")+" more")))
	}
	for _, line := range lines {
		if line = line.Cut(o.width()-4, styled.WcWidth); !o.colours.on() {
			line = styled.Plain(line.Text())
		}
		o.ErrLine("    " + line.String())
	}
}
