package chat

import (
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// looks reports whether a piece is a finished call that only looked at something, so that
// several of them can share a line.
func (l pen) looks(p *piece) bool {
	b, ok := p.part.Body.(*lathe.ToolCall)
	if !ok || p.turned || l.Details || p.picture != nil {
		return false
	}
	switch b.Tool {
	case "read", "grep", "glob", "list":
	default:
		return false
	}
	done, ok := b.State.(*lathe.ToolDone)
	return ok && len(done.Attachments) == 0
}

// batch returns how many pieces from the first on can share a line.
func (l pen) batch(list []*piece) int {
	n := 0
	for n < len(list) && l.looks(list[n]) {
		n++
	}
	return n
}

// together draws calls that looked at something on one line: what was read, then what was
// searched for. A click unfolds them.
func (l pen) together(list []*piece) styled.Line {
	line := styled.Line{{Text: cardMark}, {Text: l.Glyph("●", "*") + " ", Style: l.FG(theme.Success)}}
	last := ""
	for i, p := range list {
		c := newCall(p.part.Body.(*lathe.ToolCall))
		switch {
		case i == 0:
			line = append(line, styled.Span{Text: l.Say.Word(c.verb()), Style: l.FG(theme.Text, styled.Bold)}, styled.Span{Text: " "})
		case c.name == last:
			line = append(line, styled.Span{Text: ", ", Style: l.FG(theme.Muted)})
		default:
			line = append(line, styled.Span{Text: l.Glyph(" · ", " - "), Style: l.FG(theme.Border)},
				styled.Span{Text: l.Say.Word(c.verb()), Style: l.FG(theme.Text, styled.Bold)}, styled.Span{Text: " "})
		}
		last = c.name
		line = append(line, styled.Span{Text: styled.OneLine(c.headline()), Style: l.FG(theme.Text)})
		if n, _ := c.counted(); n != "" {
			line = append(line, styled.Span{Text: " (" + l.T(n) + ")", Style: l.FG(theme.Muted)})
		}
	}
	if line.Width(l.Method) > l.Width-1 {
		return l.inShort(list)
	}
	return line
}

// inShort draws a batch that is too long for a line: how often what was done, and the names
// as far as they fit.
func (l pen) inShort(list []*piece) styled.Line {
	line := styled.Line{{Text: cardMark}, {Text: l.Glyph("●", "*") + " ", Style: l.FG(theme.Success)}}
	names := map[string][]string{}
	var verbs []string
	for _, p := range list {
		c := newCall(p.part.Body.(*lathe.ToolCall))
		if names[c.verb()] == nil {
			verbs = append(verbs, c.verb())
		}
		names[c.verb()] = append(names[c.verb()], styled.OneLine(c.headline()))
	}
	for i, verb := range verbs {
		if i > 0 {
			line = append(line, styled.Span{Text: l.Glyph(" · ", " - "), Style: l.FG(theme.Border)})
		}
		line = append(line, styled.Span{Text: fmt.Sprintf("%s %d%s", l.Say.Word(verb), len(names[verb]), l.Glyph("×", "x")), Style: l.FG(theme.Text, styled.Bold)})
	}
	for i, verb := range verbs {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		line = append(line, styled.Span{Text: sep + strings.Join(names[verb], ", "), Style: l.FG(theme.Muted)})
	}
	return line.Cut(l.Width-1, l.Method)
}
