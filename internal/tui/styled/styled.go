// Package styled is text for a terminal as data: spans with a style, lines of
// spans, their width in cells, wrapping, and the cleaning that text from outside
// needs before it may be shown.
package styled

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Method says how wide a terminal draws a grapheme cluster.
type Method = ansi.Method

// The methods. Terminals that report mode 2027 measure whole clusters.
const (
	WcWidth  = ansi.WcWidth
	Grapheme = ansi.GraphemeWidth
)

// Style is a list of SGR parameters, such as "1;31"; empty means plain.
type Style string

// Attributes without a colour.
const (
	Bold      Style = "1"
	Faint     Style = "2"
	Italic    Style = "3"
	Underline Style = "4"
	Reverse   Style = "7"
	Strike    Style = "9"
)

// With returns the style with others on top.
func (s Style) With(others ...Style) Style {
	for _, o := range others {
		switch {
		case s == "":
			s = o
		case o != "":
			s += ";" + o
		}
	}
	return s
}

// Span is a stretch of text in one style. Link is where it leads, if anywhere.
type Span struct {
	Text  string
	Style Style
	Link  string
	Cont  Cont
}

// Cont says how the first span of a line continues the text before it; the others may
// stand at spans after it.
type Cont byte

// The ways in which a line continues the one before.
const (
	Own    Cont = iota // it does not
	Blank              // it was broken at a blank, which is in neither line
	Within             // it was broken with nothing left out
	Begin              // it does not, and what stands before the span is none of its text, as a line's number is
	End                // its text ends before the span, which only fills the line
	Beside             // another column of text begins, next to the one before
)

// Line is one row of spans. Its text holds no line breaks.
type Line []Span

// Plain returns a line of one span.
func Plain(text string, style ...Style) Line {
	return Line{{Text: text, Style: Style("").With(style...)}}
}

// String returns the line with escape sequences.
func (l Line) String() string {
	var b strings.Builder
	l.Write(&b, "")
	return b.String()
}

// Write appends the line with escape sequences to b. Every span is drawn over
// the base style.
func (l Line) Write(b *strings.Builder, base Style) {
	for _, s := range l {
		if s.Text == "" {
			continue
		}
		style := base.With(s.Style)
		if s.Link != "" {
			b.WriteString(ansi.SetHyperlink(s.Link))
		}
		if style != "" {
			b.WriteString("\x1b[" + string(style) + "m")
		}
		b.WriteString(s.Text)
		if style != "" {
			b.WriteString("\x1b[m")
		}
		if s.Link != "" {
			b.WriteString(ansi.ResetHyperlink())
		}
	}
}

// Text returns the line without styles.
func (l Line) Text() string {
	if len(l) == 1 {
		return l[0].Text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Width returns the cells the line takes.
func (l Line) Width(m Method) int {
	n := 0
	for _, s := range l {
		n += Width(s.Text, m)
	}
	return n
}

// Join returns the spans of all lines as one line.
func Join(lines ...Line) Line {
	var out Line
	for _, l := range lines {
		out = append(out, l...)
	}
	return out
}

// Width returns the cells that clean text takes.
func Width(text string, m Method) int {
	if ascii(text) {
		return len(text)
	}
	n := 0
	for len(text) > 0 {
		c, w := cluster(text, m)
		n += w
		text = text[len(c):]
	}
	return n
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Cluster returns the first grapheme cluster of the text and its width.
func Cluster(text string, m Method) (string, int) { return cluster(text, m) }

func cluster(text string, m Method) (string, int) {
	if text[0] < 0x80 && (len(text) == 1 || text[1] < 0x80) {
		return text[:1], 1
	}
	c, w := ansi.FirstGraphemeCluster(text, m)
	if c == "" { // cannot happen on valid text
		return text[:1], 1
	}
	if m == WcWidth && len(c) > 3 {
		if s := simple(c); s != c {
			w = ansi.WcWidth.StringWidth(s)
		}
	}
	return c, w
}

// Cut returns the line cut to width cells. An ellipsis shows that something was cut.
func (l Line) Cut(width int, m Method) Line {
	if l.Width(m) <= width {
		return l
	}
	if width < 1 {
		return nil
	}
	return append(l.first(width-1, m), Span{Text: "…"})
}

// first returns the part of the line that fits into width cells.
func (l Line) first(width int, m Method) Line {
	var out Line
	left := width
	for _, s := range l {
		at := 0
		for at < len(s.Text) {
			c, w := cluster(s.Text[at:], m)
			if w > left {
				if at > 0 {
					s.Text = s.Text[:at]
					out = append(out, s)
				}
				return out
			}
			left -= w
			at += len(c)
		}
		out = append(out, s)
	}
	return out
}

// Pad returns the line filled with blanks to width cells, in the style.
func (l Line) Pad(width int, m Method, style Style) Line {
	if n := width - l.Width(m); n > 0 {
		return append(l[:len(l):len(l)], Span{Text: strings.Repeat(" ", n), Style: style})
	}
	return l
}

// Over returns the line with every span drawn over the style.
func (l Line) Over(style Style) Line {
	if style == "" {
		return l
	}
	out := make(Line, len(l))
	for i, s := range l {
		s.Style = style.With(s.Style)
		out[i] = s
	}
	return out
}
