package markdown

import (
	"strings"

	"lathe/internal/markup"
	"lathe/internal/tui/styled"
)

// blocks draws lines of source. Blank lines of the source separate blocks.
func (r renderer) blocks(src []string, width, depth int) []styled.Line {
	var out []styled.Line
	for i := 0; i < len(src); {
		if strings.TrimSpace(src[i]) == "" {
			if len(out) > 0 && len(out[len(out)-1]) > 0 {
				out = append(out, nil)
			}
			i++
			continue
		}
		lines, n := r.block(src[i:], width, depth)
		out = append(out, lines...)
		i += n
	}
	for len(out) > 0 && len(out[len(out)-1]) == 0 {
		out = out[:len(out)-1]
	}
	return out
}

// block draws the block that the source begins with and says how many lines it has.
func (r renderer) block(src []string, width, depth int) ([]styled.Line, int) {
	line := strings.TrimLeft(src[0], " ")
	indent := len(src[0]) - len(line)
	if indent >= 4 {
		return r.indented(src, width)
	}
	if f := markup.Fence(line); f != "" {
		return r.fenced(src, f, indent, width)
	}
	if level, text := markup.Heading(line); level > 0 {
		return r.heading(level, text, width), 1
	}
	if markup.Rule(line) {
		return []styled.Line{styled.Plain(strings.Repeat(r.Dash, min(width, 60)), r.Rule)}, 1
	}
	if depth < markup.MaxDepth && line[0] == '>' {
		return r.quote(src, width, depth)
	}
	if depth < markup.MaxDepth {
		if _, _, ok := markup.Marker(line); ok {
			return r.list(src, width, depth)
		}
	}
	if len(src) > 1 && markup.Table(line, src[1]) {
		return r.table(src, width)
	}
	if line[0] == '$' || line[0] == '\\' {
		if lines, n := r.display(src, width); n > 0 {
			return lines, n
		}
	}
	return r.paragraph(src, width, depth)
}

// heading draws a heading. The level shows by its mark, so that it is seen
// without colours too.
func (r renderer) heading(level int, text string, width int) []styled.Line {
	style := r.Heading
	if level == 1 {
		style = style.With(styled.Underline)
	}
	prefix := ""
	if level > 2 {
		prefix = strings.Repeat("#", level) + " "
	}
	line := append(styled.Line{{Text: prefix, Style: r.Rule}}, r.inline(text, style)...)
	return styled.Wrap(line, width, r.m)
}

// list draws the items of a list. An item continues over lines that are indented
// to its text, and over unindented lines that do not begin a block.
func (r renderer) list(src []string, width, depth int) (out []styled.Line, n int) {
	for n < len(src) {
		line := strings.TrimLeft(src[n], " ")
		indent := len(src[n]) - len(line)
		if line == "" || indent >= 4 || markup.Rule(line) {
			break
		}
		shown, w, ok := markup.Marker(line)
		if !ok {
			break
		}
		end := n + 1
		for end < len(src) && markup.Continues(src, end, indent+w, indent) {
			end++
		}
		for end > n+1 && strings.TrimSpace(src[end-1]) == "" {
			end--
		}
		out = append(out, r.item(src[n:end], shown, indent+w, width, depth)...)
		n = end
		if n+1 < len(src) && strings.TrimSpace(src[n]) == "" {
			next := strings.TrimLeft(src[n+1], " ")
			if next == "" || len(src[n+1])-len(next) >= 4 {
				break
			}
			if _, _, more := markup.Marker(next); !more {
				break
			}
			out = append(out, nil)
			n++
		}
	}
	return out, n
}

func (r renderer) item(src []string, shown string, text, width, depth int) []styled.Line {
	body := make([]string, len(src))
	body[0] = src[0][min(text, len(src[0])):]
	for i, l := range src[1:] {
		body[i+1] = l[min(markup.Indent(l), text):]
	}
	style := r.Marker
	if shown == "" {
		shown = r.Bullet
		for mark, box := range map[string]string{"[ ] ": r.Open, "[x] ": r.Done, "[X] ": r.Done} {
			if rest, ok := strings.CutPrefix(body[0], mark); ok {
				shown, body[0] = box, rest
			}
		}
	}
	w := styled.Width(shown, r.m) + 1
	lines := r.blocks(body, max(width-w, 4), depth+1)
	if len(lines) == 0 {
		lines = []styled.Line{nil}
	}
	first := styled.Line{{Text: shown + " ", Style: style}}
	return prefixed(lines, first, styled.Plain(strings.Repeat(" ", w)))
}

// prefixed puts one prefix before the first line and another before the others.
func prefixed(lines []styled.Line, first, rest styled.Line) []styled.Line {
	out := make([]styled.Line, len(lines))
	for i, l := range lines {
		switch {
		case i == 0:
			out[i] = styled.Join(first, l)
		case len(l) > 0 || strings.TrimSpace(rest.Text()) != "":
			out[i] = styled.Join(rest, l)
		}
	}
	return out
}

func (r renderer) quote(src []string, width, depth int) ([]styled.Line, int) {
	var inner []string
	n := 0
	for ; n < len(src); n++ {
		line := strings.TrimLeft(src[n], " ")
		if !strings.HasPrefix(line, ">") {
			break
		}
		inner = append(inner, strings.TrimPrefix(line[1:], " "))
	}
	bar := styled.Plain(r.Bar+" ", r.Rule)
	lines := r.blocks(inner, max(width-2, 4), depth+1)
	for i, l := range lines {
		lines[i] = l.Over(r.Quote)
	}
	return prefixed(lines, bar, bar), n
}

// paragraph draws lines up to a blank one or the beginning of another block.
func (r renderer) paragraph(src []string, width, depth int) ([]styled.Line, int) {
	n := 1
	for ; n < len(src); n++ {
		line := strings.TrimLeft(src[n], " ")
		if line == "" || markup.Fence(line) != "" || line[0] == '>' && depth < markup.MaxDepth {
			break
		}
		if under := strings.TrimRight(line, " "); strings.Trim(under, "=") == "" || len(under) > 1 && strings.Trim(under, "-") == "" {
			level := 1
			if under[0] == '-' {
				level = 2
			}
			return r.heading(level, strings.Join(src[:n], " "), width), n + 1
		}
		if _, math := markup.MathBlock(src[n:]); math > 0 && !r.ascii() {
			break
		}
		if level, _ := markup.Heading(line); level > 0 || markup.Rule(line) || n+1 < len(src) && markup.Table(line, src[n+1]) {
			break
		}
		if shown, _, ok := markup.Marker(line); ok && depth < markup.MaxDepth && (shown == "" || shown == "1." || shown == "1)") {
			break
		}
	}
	return styled.Wrap(r.inline(markup.Joined(src[:n]), r.Text), width, r.m), n
}

// fenced draws a fenced code block; without an end it reaches to the last line.
func (r renderer) fenced(src []string, fence string, indent, width int) ([]styled.Line, int) {
	n := 1
	for ; n < len(src); n++ {
		if markup.FenceAfter(fence, strings.TrimLeft(src[n], " ")) == "" {
			break
		}
	}
	code := make([]string, n-1)
	for i, l := range src[1:n] {
		code[i] = l[min(markup.Indent(l), indent):]
	}
	lang, _, _ := strings.Cut(strings.TrimSpace(src[0][indent+len(fence):]), " ")
	if closed := n < len(src); closed {
		if lines := r.diagram(lang, code, width); lines != nil {
			return lines, n + 1
		}
	}
	return r.code(lang, code, width), min(n+1, len(src))
}

func (r renderer) indented(src []string, width int) ([]styled.Line, int) {
	n := 0
	var code []string
	for ; n < len(src) && (markup.Indent(src[n]) >= 4 || strings.TrimSpace(src[n]) == ""); n++ {
		code = append(code, src[n][min(4, len(src[n])):])
	}
	for n > 1 && strings.TrimSpace(code[n-1]) == "" {
		n--
		code = code[:n]
	}
	return r.code("", code, width), n
}

func (r renderer) code(lang string, code []string, width int) []styled.Line {
	return r.barred(Highlight(lang, code, r.Styles), width)
}

// barred draws lines behind a bar, broken where they end.
func (r renderer) barred(lines []styled.Line, width int) []styled.Line {
	bar := styled.Span{Text: r.Bar + " ", Style: r.Rule}
	var out []styled.Line
	for _, l := range lines {
		for _, part := range styled.Hard(l, max(width-2, 4), r.m) {
			out = append(out, append(styled.Line{bar}, part...))
		}
	}
	if len(out) == 0 {
		out = append(out, styled.Line{bar})
	}
	return out
}
