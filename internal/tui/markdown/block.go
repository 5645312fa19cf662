package markdown

import (
	"strings"

	"lathe/internal/tui/styled"
)

// maxDepth bounds how deep lists and quotes nest; deeper ones are text.
const maxDepth = 12

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
	if f := fenceOf(line); f != "" {
		return r.fenced(src, f, indent, width)
	}
	if level, text := heading(line); level > 0 {
		return r.heading(level, text, width), 1
	}
	if isRule(line) {
		return []styled.Line{styled.Plain(strings.Repeat(r.Dash, min(width, 60)), r.Rule)}, 1
	}
	if depth < maxDepth && line[0] == '>' {
		return r.quote(src, width, depth)
	}
	if depth < maxDepth {
		if _, _, ok := marker(line); ok {
			return r.list(src, width, depth)
		}
	}
	if len(src) > 1 && isTable(line, src[1]) {
		return r.table(src, width)
	}
	return r.paragraph(src, width, depth)
}

func heading(line string) (level int, text string) {
	n := 0
	for n < len(line) && line[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n < len(line) && line[n] != ' ' {
		return 0, ""
	}
	text = strings.TrimSpace(line[n:])
	if cut := strings.TrimRight(text, "#"); cut == "" || strings.HasSuffix(cut, " ") {
		text = strings.TrimSpace(cut)
	}
	return n, text
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

func isRule(line string) bool {
	s := strings.ReplaceAll(line, " ", "")
	return len(s) >= 3 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}

// marker reads a list marker: what is shown for it, and the width up to the text.
func marker(line string) (shown string, width int, ok bool) {
	n := 0
	switch {
	case line[0] == '-' || line[0] == '*' || line[0] == '+':
		n = 1
	default:
		for n < len(line) && n < 9 && line[n] >= '0' && line[n] <= '9' {
			n++
		}
		if n == 0 || n == len(line) || line[n] != '.' && line[n] != ')' {
			return "", 0, false
		}
		shown = line[:n+1]
		n++
	}
	if n == len(line) {
		return shown, n + 1, true
	}
	if line[n] != ' ' {
		return "", 0, false
	}
	text := strings.TrimLeft(line[n:], " ")
	if gap := len(line) - n - len(text); gap <= 4 && text != "" {
		return shown, n + gap, true
	}
	return shown, n + 1, true
}

// list draws the items of a list. An item continues over lines that are indented
// to its text, and over unindented lines that do not begin a block.
func (r renderer) list(src []string, width, depth int) (out []styled.Line, n int) {
	for n < len(src) {
		line := strings.TrimLeft(src[n], " ")
		indent := len(src[n]) - len(line)
		if line == "" || indent >= 4 || isRule(line) {
			break
		}
		shown, w, ok := marker(line)
		if !ok {
			break
		}
		end := n + 1
		for end < len(src) && r.continues(src, end, indent+w, indent) {
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
			if _, _, more := marker(next); !more {
				break
			}
			out = append(out, nil)
			n++
		}
	}
	return out, n
}

// continues reports whether line i belongs to an item whose text begins at column
// text and whose marker is at column mark.
func (r renderer) continues(src []string, i, text, mark int) bool {
	line := strings.TrimLeft(src[i], " ")
	indent := len(src[i]) - len(line)
	if line == "" {
		return i+1 < len(src) && (strings.TrimSpace(src[i+1]) == "" || leading(src[i+1]) > mark && leading(src[i+1]) >= min(text, mark+2))
	}
	if indent > mark && indent >= min(text, mark+2) {
		return true
	}
	if strings.TrimSpace(src[i-1]) == "" {
		return false
	}
	_, _, item := marker(line)
	level, _ := heading(line)
	return !item && level == 0 && !isRule(line) && fenceOf(line) == "" && line[0] != '>'
}

func leading(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

func (r renderer) item(src []string, shown string, text, width, depth int) []styled.Line {
	body := make([]string, len(src))
	body[0] = src[0][min(text, len(src[0])):]
	for i, l := range src[1:] {
		body[i+1] = l[min(leading(l), text):]
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
		if line == "" || fenceOf(line) != "" || line[0] == '>' && depth < maxDepth {
			break
		}
		if under := strings.TrimRight(line, " "); strings.Trim(under, "=") == "" || len(under) > 1 && strings.Trim(under, "-") == "" {
			level := 1
			if under[0] == '-' {
				level = 2
			}
			return r.heading(level, strings.Join(src[:n], " "), width), n + 1
		}
		if level, _ := heading(line); level > 0 || isRule(line) || n+1 < len(src) && isTable(line, src[n+1]) {
			break
		}
		if shown, _, ok := marker(line); ok && depth < maxDepth && (shown == "" || shown == "1." || shown == "1)") {
			break
		}
	}
	return styled.Wrap(r.inline(joined(src[:n]), r.Text), width, r.m), n
}

// joined puts the lines of a paragraph together. Two blanks or a backslash at the
// end of a line break it; when lines are short, models mean other line breaks
// too.
func joined(src []string) string {
	var b strings.Builder
	for i, l := range src {
		text := strings.TrimSpace(l)
		hard := strings.HasSuffix(l, "  ")
		if cut, ok := strings.CutSuffix(text, "\\"); ok {
			text, hard = cut, true
		}
		b.WriteString(text)
		if i < len(src)-1 {
			if hard {
				b.WriteByte('\n')
			} else {
				b.WriteByte(' ')
			}
		}
	}
	return b.String()
}

// fenced draws a fenced code block; without an end it reaches to the last line.
func (r renderer) fenced(src []string, fence string, indent, width int) ([]styled.Line, int) {
	n := 1
	for ; n < len(src); n++ {
		if fenceAfter(fence, strings.TrimLeft(src[n], " ")) == "" {
			break
		}
	}
	code := make([]string, n-1)
	for i, l := range src[1:n] {
		code[i] = l[min(leading(l), indent):]
	}
	lang, _, _ := strings.Cut(strings.TrimSpace(src[0][indent+len(fence):]), " ")
	return r.code(lang, code, width), min(n+1, len(src))
}

func (r renderer) indented(src []string, width int) ([]styled.Line, int) {
	n := 0
	var code []string
	for ; n < len(src) && (leading(src[n]) >= 4 || strings.TrimSpace(src[n]) == ""); n++ {
		code = append(code, src[n][min(4, len(src[n])):])
	}
	for n > 1 && strings.TrimSpace(code[n-1]) == "" {
		n--
		code = code[:n]
	}
	return r.code("", code, width), n
}

func (r renderer) code(lang string, code []string, width int) []styled.Line {
	bar := styled.Span{Text: r.Bar + " ", Style: r.Rule}
	var out []styled.Line
	for _, l := range Highlight(lang, code, r.Styles) {
		for _, part := range styled.Hard(l, max(width-2, 4), r.m) {
			out = append(out, append(styled.Line{bar}, part...))
		}
	}
	if len(out) == 0 {
		out = append(out, styled.Line{bar})
	}
	return out
}
