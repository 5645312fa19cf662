package show

import (
	"fmt"
	"strings"

	"lathe/internal/cli/console"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// printed shows the end of what a command printed. Its colours become the nearest of the
// terminal's own six: they can be read on its background, which lathe does not know.
func (o *Output) printed(text string) {
	l := look.Look{Theme: theme.Terminal()}
	coloured := o.Style != console.Style{}
	plain := styled.Style("")
	if coloured {
		plain = styled.Faint
	}
	lines, before := l.Printed(text, previewLines, plain)
	if before == 0 && len(lines) == 1 && strings.TrimSpace(lines[0].Text()) == "" {
		return
	}
	if before > 0 {
		o.ErrLine(o.Style.Dim("    … " + o.say(fmt.Sprintf("%d lines more", before))))
	}
	for _, line := range lines {
		if line = line.Cut(o.width()-4, styled.WcWidth); !coloured {
			line = styled.Plain(line.Text())
		}
		o.ErrLine("    " + line.String())
	}
}
