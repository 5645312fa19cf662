package show

import (
	"strings"

	"lathe/internal/markup"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// prose shows Markdown on a terminal that prints from top to bottom: what was printed stays,
// so a line is printed once later text cannot change it. That is a whole block, or a line of
// code, or a line of a paragraph in which no emphasis is open.
type prose struct {
	width  int
	styles *markdown.Styles
	buf    []byte // of the block that is open, with what is printed of it
	drawn  int    // lines of it that are printed
	seen   int    // bytes of it when it was drawn last
	begun  bool   // something is printed: a blank line separates what follows
	simple bool   // the terminal would show where links lead as text
}

// maxOpen bounds the paragraph whose lines are printed before it ends, in bytes.
const maxOpen = 16 << 10

// maxBlock bounds what is kept of a block that does not end, in bytes. It is printed then,
// and what follows is a block of its own.
const maxBlock = 1 << 20

// newProse returns what shows one text. Without colours, the terminal's own ways to set
// words apart remain.
func newProse(width int, c colours) *prose {
	styles := markdown.NewStyles(theme.Terminal(), true)
	if c.on() {
		styles = markdown.NewStyles(c.theme, true)
	} else {
		styles = &markdown.Styles{
			Heading: styled.Bold, Strong: styled.Bold, Emph: styled.Italic, Strike: styled.Strike, Link: styled.Underline,
			Bar: styles.Bar, Dash: styles.Dash, Bullet: styles.Bullet, Done: styles.Done, Open: styles.Open,
		}
	}
	return &prose{width: width, styles: styles}
}

// add takes text that came and returns what is to be printed now.
func (p *prose) add(text string) string {
	p.buf = append(p.buf, strings.ReplaceAll(text, "\t", "    ")...)
	// To draw is to read the block again. It is done the more rarely the longer the block is,
	// so that all of it costs in proportion to the text.
	if grown := len(p.buf) - p.seen; grown < len(p.buf)/32 || grown < p.width && !strings.Contains(text, "\n") {
		return ""
	}
	var out strings.Builder
	for {
		n := markup.Boundary(string(p.buf))
		if n == 0 {
			break
		}
		p.draw(&out, string(p.buf[:n]), 0)
		p.buf, p.drawn = append(p.buf[:0], p.buf[n:]...), 0
	}
	if len(p.buf) > maxBlock {
		p.draw(&out, string(p.buf), 0)
		p.buf, p.drawn = nil, 0
	}
	p.seen = len(p.buf)
	open := string(p.buf)
	if lines, code, lang := inCode(open); code {
		if lines > 0 && !markdown.Drawn(lang) {
			p.draw(&out, open[:strings.LastIndexByte(open, '\n')+1], 0)
		}
	} else if len(open) < maxOpen && steady(open) {
		p.draw(&out, open, 1)
	}
	return out.String()
}

// end returns what is left to be printed.
func (p *prose) end() string {
	var out strings.Builder
	p.draw(&out, string(p.buf), 0)
	p.buf, p.drawn, p.seen = nil, 0, 0
	return out.String()
}

// draw prints the lines of a block that are not printed yet, but for the last few.
func (p *prose) draw(out *strings.Builder, block string, but int) {
	lines := markdown.Render(block, p.width, p.styles, styled.WcWidth)
	for i := p.drawn; i < len(lines)-but; i++ {
		if i == 0 && p.begun {
			out.WriteByte('\n')
		}
		if p.simple {
			for j := range lines[i] {
				lines[i][j].Link = ""
			}
		}
		lines[i].Write(out, "")
		out.WriteByte('\n')
		p.drawn, p.begun = i+1, true
	}
}

// inCode reports whether a block ends in code whose fence is open, how many lines that
// are not blank the code has so far, and its language.
func inCode(block string) (lines int, open bool, lang string) {
	fence := ""
	for l := range strings.Lines(block) {
		if !strings.HasSuffix(l, "\n") {
			break
		}
		l = strings.Trim(l, " \n")
		switch after := markup.FenceAfter(fence, l); {
		case after != fence:
			fence, lines = after, 0
			lang, _, _ = strings.Cut(strings.TrimSpace(l[min(len(after), len(l)):]), " ")
		case l != "":
			lines++
		}
	}
	return lines, fence != "", lang
}

// steady reports whether a block is a paragraph whose lines stay as they are when more of it
// comes: nothing in it may still become a heading, a table, emphasis or a link.
func steady(block string) bool {
	first := strings.TrimLeft(block, " ")
	if first == "" || strings.Contains(block, "\n") || strings.ContainsAny(first[:1], "#>|-*+=0123456789`~_$") {
		return false
	}
	var marks markup.Delimiters
	for at := 0; at < len(block); {
		e, n := marks.Element(block, at, true, true)
		switch {
		case n == 0 && strings.IndexByte("[<&|\\$", block[at]) >= 0, n > 0 && at+n == len(block):
			return false // it may be the beginning of something, or go on
		case e.Kind == markup.Literal && strings.ContainsAny(e.Text, "*_~`"):
			return false
		}
		at += max(n, 1)
	}
	return true
}
