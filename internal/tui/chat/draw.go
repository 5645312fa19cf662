package chat

import (
	"fmt"
	"strings"
	"time"

	"lathe"
	"lathe/internal/readable"
	"lathe/internal/say"
	"lathe/internal/tui/look"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// pen draws messages.
type pen struct{ look.Look }

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
		out[i] = line.Cut(l.Width, l.Method)
	}
	e.lines, e.fresh = out, l
	return out
}

// signed says who wrote a message and when, if the person wants to see that.
func (l pen) signed(e *entry) string {
	var words []string
	if l.Name != "" {
		words = append(words, l.Name)
	}
	if l.Times {
		words = append(words, e.m.Created.Format("2 Jan 15:04:05"))
	}
	return strings.Join(words, l.Glyph(" · ", " - "))
}

func (l pen) assistant(e *entry, info *lathe.Assistant) []styled.Line {
	var out []styled.Line
	e.where = e.where[:0]
	for i := 0; i < len(e.pieces); {
		n := max(1, l.batch(e.pieces[i:]))
		pieces := e.pieces[i : i+n]
		i += n
		lines := l.pieces(pieces)
		if len(lines) == 0 {
			continue
		}
		if !(len(out) > 0 && len(lines) == 1 && isCard(pieces[0]) && oneLiner(out)) {
			out = append(out, nil)
		}
		e.where = append(e.where, stretch{len(out), len(out) + len(lines), pieces})
		out = append(out, lines...)
	}
	if info.Error != nil {
		out = append(out, nil)
		out = append(out, l.failure(info.Error)...)
	}
	if e.note != "" {
		out = append(append(out, nil), l.standing(e)...)
	}
	if len(out) > 0 {
		out = append(out, l.footer(e, info)...)
	}
	return out
}

// standing draws the remark on an entry's state, such as queued.
func (l pen) standing(e *entry) []styled.Line {
	return l.Indent(styled.Wrap(styled.Plain(l.T(string(e.note)), l.FG(theme.Warning)), l.Width-4, l.Method))
}

// footer says who answered and how long it took, below the end of a turn.
func (l pen) footer(e *entry, info *lathe.Assistant) []styled.Line {
	if info.Completed.IsZero() || info.Finish == lathe.FinishToolCalls || info.Error != nil || info.Summary {
		return nil
	}
	text := fmt.Sprintf("%s %s %s %s %s", info.Agent, l.Glyph("·", "-"), info.Model, l.Glyph("·", "-"), look.Duration(e.took(info)))
	return []styled.Line{nil, styled.Plain("   "+styled.OneLine(text), l.FG(theme.Muted))}
}

// took is how long the turn took that an answer ends, without what its calls waited for the
// person.
func (e *entry) took(info *lathe.Assistant) time.Duration {
	at, waited := e.m.Created, e.waited()
	for b := e.before; b != nil; b = b.before {
		at = b.m.Created
		if _, ok := b.m.Info.(*lathe.User); ok {
			break
		}
		waited += b.waited()
	}
	return max(0, info.Completed.Sub(at)-waited)
}

// waited is how long the calls of a message waited for the person.
func (e *entry) waited() (longest time.Duration) {
	for _, p := range e.pieces {
		longest = max(longest, p.part.Waited())
	}
	return longest
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
		return []styled.Line{styled.Plain(" "+l.Glyph("■", "x")+" "+l.T("stopped"), l.FG(theme.Warning))}
	}
	mark := styled.Span{Text: " " + l.Glyph("✗", "x") + " ", Style: l.FG(theme.Error)}
	lines := styled.Wrap(styled.Plain(styled.Clean(l.T(look.InScreen(f.Error()))), l.FG(theme.Error)), l.Width-4, l.Method)
	for i := range lines {
		if i == 0 {
			lines[i] = append(styled.Line{mark}, lines[i]...)
		} else {
			lines[i] = append(styled.Line{{Text: "   "}}, lines[i]...)
		}
	}
	return lines
}

// pieces draws one part of an answer, or several that share a line.
func (l pen) pieces(list []*piece) []styled.Line {
	if len(list) > 1 {
		return []styled.Line{l.together(list)}
	}
	return l.piece(list[0])
}

// piece draws a part of an answer.
func (l pen) piece(p *piece) []styled.Line {
	if p.fresh == l {
		return p.lines
	}
	as := l
	if p.turned {
		l.Details, l.Thinking = !l.Details, !l.Thinking
	}
	switch b := p.part.Body.(type) {
	case *lathe.Text:
		if kept, ok := readable.Ledger(b.Text); ok {
			p.lines = l.ledger(kept)
			break
		}
		if l.Raw {
			p.lines = l.Indent(styled.Wrap(styled.Plain(styled.Clean(b.Text), l.FG(theme.Text)), l.Width-4, l.Method))
			break
		}
		p.lines = l.Indent(p.stream.Lines(styled.Clean(b.Text), l.Width-4, l.MD, l.Method))
	case *lathe.Reasoning:
		p.lines = l.reasoning(b)
	case *lathe.ToolCall:
		p.lines = append(l.card(b), l.Indent(l.shown(p))...)
	case *lathe.Retry:
		text := fmt.Sprintf("attempt %d failed: %s", b.Attempt, failureText(b.Error))
		p.lines = []styled.Line{styled.Plain(" "+l.Glyph("↻", "~")+" "+styled.OneLine(l.T(text)), l.FG(theme.Warning)).Cut(l.Width-1, l.Method)}
	case *lathe.CompactionMark:
		p.lines = []styled.Line{l.Divider("compaction")}
	case *lathe.File:
		p.lines = append([]styled.Line{styled.Plain("   "+l.Glyph("⎘ ", "@ ")+styled.OneLine(b.Filename), l.FG(theme.Accent))}, l.Indent(l.shown(p))...)
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
	head := styled.Plain(" "+l.Glyph("▸", ">")+" "+l.T("kept word for word for the model: "+say.Plural(facts, "fact")), l.FG(theme.Muted)).Cut(l.Width-2, l.Method)
	if !l.Details {
		return []styled.Line{head}
	}
	return append([]styled.Line{head}, l.Indent(markdown.Render(styled.Clean(kept), l.Width-4, l.MD, l.Method))...)
}

func failureText(f lathe.Failure) string {
	if f == nil {
		return "unknown failure"
	}
	return f.Error()
}

// reasoning draws what a model thought, folded to its last line while the model
// thinks, and afterwards to how long that took.
func (l pen) reasoning(b *lathe.Reasoning) []styled.Line {
	text := strings.TrimSpace(styled.Clean(b.Text))
	if text == "" {
		return nil
	}
	style := l.FG(theme.Muted, styled.Italic)
	if l.Thinking {
		lines := styled.Wrap(styled.Plain(text, style), l.Width-6, l.Method)
		bar := styled.Span{Text: " " + l.Glyph("┊", ":") + " ", Style: l.FG(theme.Border)}
		for i := range lines {
			lines[i] = append(styled.Line{bar}, lines[i]...)
		}
		return lines
	}
	head := "thinking…"
	if !b.Time.End.IsZero() {
		head = "thought"
		if d := b.Time.End.Sub(b.Time.Start); d >= time.Second {
			head += " for " + look.Duration(d)
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	if b.Time.End.IsZero() {
		line = text[strings.LastIndexByte(text, '\n')+1:]
	}
	return []styled.Line{styled.Line{
		{Text: " " + l.Glyph("▸", ">") + " " + l.T(head) + " ", Style: l.FG(theme.Muted)}, {Text: line, Style: style},
	}.Cut(l.Width-2, l.Method)}
}
