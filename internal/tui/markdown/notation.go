package markdown

import (
	"lathe/internal/formula"
	"lathe/internal/markup"
	"lathe/internal/mermaid"
	"lathe/internal/tui/styled"
)

// math draws a formula within a text; one that is not understood stays as it was written.
func (p *inliner) math(tex, source string, style styled.Style, link string) {
	text, ok := formula.Line(tex)
	if !ok || p.ascii() {
		text = source
	}
	p.emit(text, style.With(p.Emph), link)
}

// ascii reports whether what is drawn has to be ASCII.
func (s *Styles) ascii() bool { return s.Bar == "|" }

// display draws a formula that stands by itself, and says how many lines it has in the source.
func (r renderer) display(src []string, width int) ([]styled.Line, int) {
	tex, n := markup.MathBlock(src)
	if n == 0 || r.ascii() {
		return nil, 0
	}
	lines, ok := formula.Lines(tex)
	if !ok {
		return nil, 0
	}
	var out []styled.Line
	for _, l := range lines {
		for _, part := range styled.Wrap(styled.Plain(l, r.Emph), max(width-2, 4), r.m) {
			out = append(out, styled.Join(styled.Plain("  "), part))
		}
	}
	return out, n
}

// diagram draws code that is a diagram, or returns nil.
func (r renderer) diagram(lang string, code []string, width int) []styled.Line {
	if !Drawn(lang) {
		return nil
	}
	lines, ok := mermaid.Lines(code, r.ascii())
	if !ok {
		return nil
	}
	return r.barred(plainLines(lines, r.Text), width)
}

// Drawn reports whether code in a language is drawn as something else once all of it is there.
func Drawn(lang string) bool { return lang == "mermaid" }

func plainLines(lines []string, style styled.Style) []styled.Line {
	out := make([]styled.Line, len(lines))
	for i, l := range lines {
		out[i] = styled.Plain(l, style)
	}
	return out
}
