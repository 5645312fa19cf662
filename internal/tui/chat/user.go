package chat

import (
	"encoding/json"
	"strings"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	foldLines = 30 // a text of the person's with more lines is folded
	foldTo    = 10 // to so many
)

// user draws what the person wrote: a panel with a bar at its side.
func (l pen) user(e *entry) []styled.Line {
	out := []styled.Line{nil}
	e.where = e.where[:0]
	for _, p := range e.pieces {
		if _, ok := p.part.Body.(*lathe.CompactionMark); ok {
			e.where = nil
			return []styled.Line{nil, l.Divider("compaction")}
		}
		if lines := l.said(p); len(lines) > 0 {
			e.where = append(e.where, stretch{len(out), len(out) + len(lines), []*piece{p}})
			out = append(out, lines...)
		}
	}
	if len(out) == 1 {
		return nil
	}
	if e.note != "" {
		out = append(out, styled.Wrap(styled.Plain(l.T(string(e.note)), l.FG(theme.Warning)), l.Width-4, l.Method)...)
	}
	if by := l.signed(e); by != "" {
		out = append(out, styled.Plain(by, l.FG(theme.Muted)))
	}
	bar := styled.Line{{Text: " " + l.Glyph("▌", "|"), Style: l.FG(theme.Primary)}, {Text: " "}}
	for i, line := range out[1:] {
		out[i+1] = l.panel(styled.Join(bar, line))
	}
	return out
}

// panel draws a line on the colour of panels, as wide as there is room. On the
// scrollback of the terminal it stays as long as it is.
func (l pen) panel(line styled.Line) styled.Line {
	bg := l.Theme.BG(theme.Panel)
	if bg == "" || l.Flowing {
		return line
	}
	return append(styled.Line{line[0]}, line[1:].Pad(l.Width-line[:1].Width(l.Method)-1, l.Method, "").Over(bg)...)
}

// said draws a part of what the person wrote.
func (l pen) said(p *piece) (out []styled.Line) {
	switch b := p.part.Body.(type) {
	case *lathe.Text:
		if b.Synthetic || strings.TrimSpace(b.Text) == "" {
			return nil
		}
		open := l.Details != p.turned
		for _, line := range l.paragraphs(b, open) {
			out = append(out, styled.Wrap(line, l.Width-5, l.Method)...)
		}
		if rest := len(out) - foldTo; !open && len(out) > foldLines {
			out = append(out[:foldTo:foldTo], styled.Plain(l.Glyph("…", "...")+" "+l.T(say.Plural(rest, "line")+" more"), l.FG(theme.Muted)))
		}
	case *lathe.File:
		out = []styled.Line{{{Text: l.Glyph("⎘ ", "@ "), Style: l.FG(theme.Accent)}, {Text: styled.OneLine(b.Filename), Style: l.FG(theme.Muted)}}}
		out = append(out, l.shown(p)...)
	case *lathe.Subtask:
		out = []styled.Line{styled.Plain(styled.OneLine("@"+b.Agent+" "+b.Description), l.FG(theme.Secondary))}
	}
	return out
}

// paragraphs returns the lines of a text as the person wrote it: what was pasted is a chip,
// unless it is unfolded.
func (l pen) paragraphs(b *lathe.Text, open bool) []styled.Line {
	var out []styled.Line
	line := styled.Line{}
	write := func(text string) {
		for i, part := range strings.Split(text, "\n") {
			if i > 0 {
				out, line = append(out, line), styled.Line{}
			}
			if part != "" {
				line = append(line, styled.Span{Text: part, Style: l.FG(theme.Text)})
			}
		}
	}
	at := 0
	for _, p := range pasted(b) {
		if open {
			break
		}
		write(styled.Clean(b.Text[at:p[0]]))
		line = append(line, styled.Span{Text: l.T("[pasted text, " + edit.Extent(b.Text[p[0]:p[1]]) + "]"), Style: l.FG(theme.Accent)})
		at = p[1]
	}
	write(strings.TrimRight(styled.Clean(b.Text[at:]), "\n"))
	out = append(out, line)
	for len(out) > 1 && len(out[0]) == 0 {
		out = out[1:]
	}
	return out
}

// pasted returns which stretches of a text were pasted. What clients say of it is checked.
func pasted(b *lathe.Text) (out [][2]int) {
	var all [][2]int
	if json.Unmarshal(b.Meta[lathe.MetaPasted], &all) != nil {
		return nil
	}
	at := 0
	for _, p := range all {
		if p[0] < at || p[1] <= p[0] || p[1] > len(b.Text) {
			return nil
		}
		out, at = append(out, p), p[1]
	}
	return out
}
