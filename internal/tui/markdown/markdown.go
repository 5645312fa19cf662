// Package markdown turns the Markdown that models write into styled lines: in
// full, or as it streams in, when only the last block is drawn again.
//
// It understands what answers are made of: headings, paragraphs, lists, quotes,
// tables, rules, fenced and indented code, emphasis, code spans, links and bare
// addresses. HTML is shown as it is written. It has no start-up cost, which is
// why it is not built on a general parser.
package markdown

import (
	"strings"

	"lathe/internal/markup"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Styles are what Markdown is drawn with: a table, one field for each thing that looks
// different.
type Styles struct {
	Text, Heading, Strong, Emph, Strike, Code, CodeBlock, Link, Quote, Rule, Marker styled.Style

	Comment, Keyword, Function, String, Number, Type, Added, Removed styled.Style

	Bar, Dash, Bullet, Done, Open string // "│", "─", "•", "☑", "☐"
}

// NewStyles returns the styles of a theme. Without unicode, lines and bullets
// are drawn in ASCII.
func NewStyles(t *theme.Theme, unicode bool) *Styles {
	s := &Styles{
		Text: t.FG(theme.Text), Heading: t.FG(theme.Heading, styled.Bold), Strong: t.FG(theme.Strong, styled.Bold),
		Emph: t.FG(theme.Emph, styled.Italic), Strike: styled.Strike, Code: t.FG(theme.Code), CodeBlock: t.FG(theme.Text),
		Link: t.FG(theme.Link, styled.Underline), Quote: t.FG(theme.Quote), Rule: t.FG(theme.Border), Marker: t.FG(theme.ListItem),
		Comment: t.FG(theme.Comment), Keyword: t.FG(theme.Keyword), Function: t.FG(theme.Function), String: t.FG(theme.StringLit),
		Number: t.FG(theme.Number), Type: t.FG(theme.TypeName), Added: t.FG(theme.DiffAdded), Removed: t.FG(theme.DiffRemoved),
		Bar: "│", Dash: "─", Bullet: "•", Done: "☑", Open: "☐",
	}
	if !unicode {
		s.Bar, s.Dash, s.Bullet, s.Done, s.Open = "|", "-", "*", "[x]", "[ ]"
	}
	return s
}

// Stream draws a text that grows. The zero value is ready. What was drawn of
// finished blocks is kept until the width or the styles change.
type Stream struct {
	width  int
	method styled.Method
	styles *Styles
	split  int // text before it is finished
	done   []styled.Line
}

// Lines returns the text as lines of at most width cells. Each call continues the
// one before: the text may only have grown. The result is valid until the next.
func (s *Stream) Lines(text string, width int, st *Styles, m styled.Method) []styled.Line {
	if s.width != width || s.styles != st || s.method != m || len(text) < s.split {
		*s = Stream{width: width, method: m, styles: st}
	}
	r := renderer{st, m}
	for {
		n := markup.Boundary(text[s.split:])
		if n == 0 {
			break
		}
		s.done = append(s.spaced(s.done), r.chunk(text[s.split:s.split+n], width)...)
		s.split += n
	}
	tail := r.chunk(text[s.split:], width)
	if len(tail) == 0 {
		return s.done
	}
	done := s.spaced(s.done[:len(s.done):len(s.done)])
	return append(done, tail...)
}

// Settled returns how much of the text later text cannot change, as of the last
// drawing, in bytes.
func (s *Stream) Settled() int { return s.split }

// spaced adds the blank line between blocks.
func (s *Stream) spaced(lines []styled.Line) []styled.Line {
	if len(lines) == 0 {
		return lines
	}
	return append(lines, nil)
}

// Render returns a whole text as lines.
func Render(text string, width int, st *Styles, m styled.Method) []styled.Line {
	var s Stream
	return s.Lines(text, width, st, m)
}

type renderer struct {
	*Styles
	m styled.Method
}

// chunk draws a piece of source that holds whole blocks.
func (r renderer) chunk(src string, width int) []styled.Line {
	src = strings.TrimRight(src, "\n ")
	if strings.TrimSpace(src) == "" {
		return nil
	}
	return r.blocks(strings.Split(src, "\n"), max(width, 4), 0)
}
