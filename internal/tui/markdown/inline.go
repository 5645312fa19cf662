package markdown

import (
	"strings"

	"lathe/internal/markup"
	"lathe/internal/tui/styled"
)

// inline draws the text of a block.
func (r renderer) inline(text string, style styled.Style) styled.Line {
	p := inliner{renderer: r}
	p.run(text, style, "", 0)
	p.flush()
	return p.out
}

// inliner collects spans. Neighbours that look the same are one span.
type inliner struct {
	renderer
	out   styled.Line
	text  []byte // text of the span that is not in out yet
	style styled.Style
	leads string
}

func (p *inliner) emit(text string, style styled.Style, link string) {
	if text == "" {
		return
	}
	if style != p.style || link != p.leads {
		p.flush()
		p.style, p.leads = style, link
	}
	p.text = append(p.text, text...)
}

func (p *inliner) flush() {
	if len(p.text) > 0 {
		p.out = append(p.out, styled.Span{Text: string(p.text), Style: p.style, Link: p.leads})
		p.text = p.text[:0]
	}
}

// run draws text.
func (p *inliner) run(text string, style styled.Style, link string, depth int) {
	var marks markup.Delimiters
	plain := 0
	for at := 0; at < len(text); {
		e, n := marks.Element(text, at, depth < markup.MaxNest, link == "")
		if n == 0 {
			at++
			continue
		}
		p.emit(text[plain:at], style, link)
		p.element(e, text[at:at+n], style, link, depth)
		at += n
		plain = at
	}
	p.emit(text[plain:], style, link)
}

// element draws an element, which stands so in the source.
func (p *inliner) element(e markup.Element, source string, style styled.Style, link string, depth int) {
	switch e.Kind {
	case markup.Literal:
		p.emit(styled.Clean(e.Text), style, link)
	case markup.Code:
		p.emit(e.Text, style.With(p.Code), link)
	case markup.Linked:
		p.link(e.Text, e.URL, style, depth)
	case markup.Auto:
		p.emit(e.Text, style.With(p.Link), e.URL)
	case markup.Math:
		p.math(e.Text, source, style, link)
	default:
		p.run(e.Text, style.With(p.emphasis(e.Kind)), link, depth+1)
	}
}

func (p *inliner) emphasis(k markup.Kind) styled.Style {
	switch k {
	case markup.Strong:
		return p.Strong
	case markup.Strike:
		return p.Strike
	case markup.StrongEmph:
		return p.Strong.With(styled.Italic)
	}
	return p.Emph
}

// link draws a link; the address is shown unless the label already says it.
func (p *inliner) link(label, url string, style styled.Style, depth int) {
	target := ""
	if markup.Address(url) {
		target = url
	}
	p.flush()
	from := len(p.out)
	p.run(label, style.With(p.Link), cmpOr(target, "\x00"), depth+1)
	p.flush()
	for i := range p.out[from:] {
		if p.out[from+i].Link == "\x00" {
			p.out[from+i].Link = ""
		}
	}
	if url != "" && url != label && !strings.HasPrefix(url, "#") {
		p.emit(" ("+url+")", style.With(p.Quote), "")
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
