package tui

import (
	"fmt"
	"strings"
	"time"

	"lathe"
	"lathe/internal/readable"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// pen draws messages.
type pen struct{ look }

// draw returns the lines of a message. A blank one is before them, unless this
// and the message before are tool calls of one line each.
func (l pen) draw(e *entry) []styled.Line {
	lines := l.drawn(e)
	if len(lines) > 1 && len(lines[0]) == 0 && oneLiner(lines[:2]) && (len(lines) == 2 || len(lines[2]) == 0 || oneLiner(lines[:3])) && e.before != nil {
		if last := l.drawn(e.before); len(last) > 0 && oneLiner(last) {
			return lines[1:]
		}
	}
	return lines
}

// drawn returns the lines of a message; they begin with a blank one.
func (l pen) drawn(e *entry) []styled.Line {
	if e.fresh == l {
		return e.lines
	}
	var out []styled.Line
	switch info := e.m.Info.(type) {
	case *lathe.User:
		out = l.user(e)
	case *lathe.Assistant:
		out = l.assistant(e, info)
	}
	for i, line := range out {
		out[i] = line.Cut(l.width, l.method)
	}
	e.lines, e.fresh = out, l
	return out
}

// user draws what the person wrote beside a bar.
func (l pen) user(e *entry) []styled.Line {
	bar := styled.Span{Text: " " + l.glyph("▌", "|") + " ", Style: l.fg(theme.Primary)}
	var body []styled.Line
	for _, p := range e.pieces {
		switch b := p.part.Body.(type) {
		case *lathe.Text:
			if b.Synthetic || strings.TrimSpace(b.Text) == "" {
				continue
			}
			for _, line := range strings.Split(strings.Trim(styled.Clean(b.Text), "\n"), "\n") {
				body = append(body, styled.Wrap(styled.Plain(line, l.fg(theme.Text)), l.width-4, l.method)...)
			}
		case *lathe.File:
			body = append(body, styled.Line{{Text: l.glyph("⎘ ", "@ "), Style: l.fg(theme.Accent)}, {Text: styled.OneLine(b.Filename), Style: l.fg(theme.Muted)}})
			body = append(body, l.shown(p)...)
		case *lathe.Subtask:
			body = append(body, styled.Plain(styled.OneLine("@"+b.Agent+" "+b.Description), l.fg(theme.Secondary)))
		case *lathe.CompactionMark:
			return []styled.Line{nil, l.divider("compaction")}
		}
	}
	if len(body) == 0 {
		return nil
	}
	if e.note != "" {
		body = append(body, styled.Plain(string(e.note), l.fg(theme.Warning)))
	}
	if by := l.signed(e); by != "" {
		body = append(body, styled.Plain(by, l.fg(theme.Muted)))
	}
	out := []styled.Line{nil}
	for _, line := range body {
		out = append(out, append(styled.Line{bar}, line...))
	}
	return out
}

// signed tells who wrote a message and when, as far as the person wants to see it.
func (l pen) signed(e *entry) string {
	var words []string
	if l.name != "" {
		words = append(words, l.name)
	}
	if l.times {
		words = append(words, e.m.Created.Format("2 Jan 15:04:05"))
	}
	return strings.Join(words, l.glyph(" · ", " - "))
}

func (l pen) assistant(e *entry, info *lathe.Assistant) []styled.Line {
	var out []styled.Line
	e.where = e.where[:0]
	for _, p := range e.pieces {
		if lines := l.piece(p); len(lines) > 0 {
			if !(len(out) > 0 && len(lines) == 1 && isCard(p) && oneLiner(out)) {
				out = append(out, nil)
			}
			e.where = append(e.where, stretch{len(out), len(out) + len(lines), p})
			out = append(out, lines...)
		}
	}
	if info.Error != nil {
		out = append(out, nil)
		out = append(out, l.failure(info.Error)...)
	}
	if e.note != "" {
		out = append(out, nil)
		out = append(out, l.indent(styled.Wrap(styled.Plain(string(e.note), l.fg(theme.Warning)), l.width-4, l.method))...)
	}
	if len(out) > 0 {
		out = append(out, l.footer(e, info)...)
	}
	return out
}

// footer says who answered and how long it took, below the end of a turn.
func (l pen) footer(e *entry, info *lathe.Assistant) []styled.Line {
	if info.Completed.IsZero() || info.Finish == lathe.FinishToolCalls || info.Error != nil || info.Summary {
		return nil
	}
	text := fmt.Sprintf("%s %s %s %s %s", info.Agent, l.glyph("·", "-"), info.Model, l.glyph("·", "-"), duration(info.Completed.Sub(e.asked())))
	return []styled.Line{nil, styled.Plain("   "+styled.OneLine(text), l.fg(theme.Muted))}
}

// asked is when the turn began that an answer belongs to.
func (e *entry) asked() time.Time {
	at := e.m.Created
	for b := e.before; b != nil; b = b.before {
		at = b.m.Created
		if _, ok := b.m.Info.(*lathe.User); ok {
			break
		}
	}
	return at
}

func isCard(p *piece) bool {
	_, ok := p.part.Body.(*lathe.ToolCall)
	return ok
}

// oneLiner reports whether the lines end with a tool that took a single line.
func oneLiner(out []styled.Line) bool {
	last := out[len(out)-1]
	return len(last) > 1 && last[0].Text == cardMark
}

func (l pen) failure(f lathe.Failure) []styled.Line {
	if _, ok := f.(*lathe.AbortedFailure); ok {
		return []styled.Line{styled.Plain(" "+l.glyph("■", "x")+" stopped", l.fg(theme.Warning))}
	}
	mark := styled.Span{Text: " " + l.glyph("✗", "x") + " ", Style: l.fg(theme.Error)}
	lines := styled.Wrap(styled.Plain(styled.Clean(inScreen(f.Error())), l.fg(theme.Error)), l.width-4, l.method)
	for i := range lines {
		if i == 0 {
			lines[i] = append(styled.Line{mark}, lines[i]...)
		} else {
			lines[i] = append(styled.Line{{Text: "   "}}, lines[i]...)
		}
	}
	return lines
}

// piece draws a part of an answer.
func (l pen) piece(p *piece) []styled.Line {
	if p.fresh == l {
		return p.lines
	}
	as := l
	if p.turned {
		l.details, l.thinking = !l.details, !l.thinking
	}
	switch b := p.part.Body.(type) {
	case *lathe.Text:
		if kept, ok := readable.Ledger(b.Text); ok {
			p.lines = l.ledger(kept)
			break
		}
		if l.raw {
			p.lines = l.indent(styled.Wrap(styled.Plain(styled.Clean(b.Text), l.fg(theme.Text)), l.width-4, l.method))
			break
		}
		p.lines = l.indent(p.stream.Lines(styled.Clean(b.Text), l.width-4, l.md, l.method))
	case *lathe.Reasoning:
		p.lines = l.reasoning(b)
	case *lathe.ToolCall:
		p.lines = append(l.card(b), l.indent(l.shown(p))...)
	case *lathe.Retry:
		text := fmt.Sprintf("attempt %d failed: %s", b.Attempt, failureText(b.Error))
		p.lines = []styled.Line{styled.Plain(" "+l.glyph("↻", "~")+" "+styled.OneLine(text), l.fg(theme.Warning)).Cut(l.width-1, l.method)}
	case *lathe.CompactionMark:
		p.lines = []styled.Line{l.divider("compaction")}
	case *lathe.File:
		p.lines = append([]styled.Line{styled.Plain("   "+l.glyph("⎘ ", "@ ")+styled.OneLine(b.Filename), l.fg(theme.Accent))}, l.indent(l.shown(p))...)
	default:
		p.lines = nil
	}
	p.fresh = as
	return p.lines
}

// ledger draws what a compaction kept for the model: one line, or all unfolded.
func (l pen) ledger(kept string) []styled.Line {
	facts := 0
	for line := range strings.SplitSeq(kept, "\n") {
		if strings.HasPrefix(line, "- ") {
			facts++
		}
	}
	head := styled.Plain(" "+l.glyph("▸", ">")+" kept word for word for the model: "+plural(facts, "fact"), l.fg(theme.Muted)).Cut(l.width-2, l.method)
	if !l.details {
		return []styled.Line{head}
	}
	return append([]styled.Line{head}, l.indent(markdown.Render(styled.Clean(kept), l.width-4, l.md, l.method))...)
}

func failureText(f lathe.Failure) string {
	if f == nil {
		return "unknown failure"
	}
	return f.Error()
}

// reasoning draws what a model thought, folded to its last line while it thinks
// and to how long it took after.
func (l pen) reasoning(b *lathe.Reasoning) []styled.Line {
	text := strings.TrimSpace(styled.Clean(b.Text))
	if text == "" {
		return nil
	}
	style := l.fg(theme.Muted, styled.Italic)
	if l.thinking {
		lines := styled.Wrap(styled.Plain(text, style), l.width-6, l.method)
		bar := styled.Span{Text: " " + l.glyph("┊", ":") + " ", Style: l.fg(theme.Border)}
		for i := range lines {
			lines[i] = append(styled.Line{bar}, lines[i]...)
		}
		return lines
	}
	head := "thinking " + l.glyph("…", "...")
	if !b.Time.End.IsZero() {
		head = "thought"
		if d := b.Time.End.Sub(b.Time.Start); d >= time.Second {
			head += " for " + duration(d)
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	if b.Time.End.IsZero() {
		line = text[strings.LastIndexByte(text, '\n')+1:]
	}
	return []styled.Line{styled.Line{
		{Text: " " + l.glyph("▸", ">") + " " + head + " ", Style: l.fg(theme.Muted)}, {Text: line, Style: style},
	}.Cut(l.width-2, l.method)}
}
