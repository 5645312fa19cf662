package emulator

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// Measures of a picture, in its own units: what most monospaced fonts measure at size 14.
const (
	cellWidth  = 8.43
	cellHeight = 19.0
	baseline   = 14.0
	margin     = 14.0
	titleBar   = 30.0
)

// Picture is a drawing of what the terminal shows, as an SVG without scripts or
// foreign parts. Text is drawn as text, each run as wide as its cells, so that it
// looks the same with any font.
type Picture struct {
	Title                  string // of the window
	Foreground, Background color.Color
}

// SVG draws the terminal.
func (p Picture) SVG(e *Terminal) string {
	var b strings.Builder
	w, h := 2*margin+float64(e.w)*cellWidth, titleBar+margin+float64(e.h)*cellHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK SC',monospace" font-size="14">`+"\n",
		w, h, w, h, html.EscapeString(p.Title))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", hex(p.Background))
	for i, c := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="15" r="5" fill="%s"/>`+"\n", 18+i*16, c)
	}
	fmt.Fprintf(&b, `<text x="%.0f" y="20" text-anchor="middle" fill="%s" opacity=".6">%s</text>`+"\n", w/2, hex(p.Foreground), html.EscapeString(p.Title))
	for y, row := range e.cells {
		for x := 0; x < len(row); {
			end := x + 1
			for end < len(row) && row[end].style.Equal(&row[x].style) {
				end++
			}
			p.run(&b, row[x:end], margin+float64(x)*cellWidth, titleBar+float64(y)*cellHeight)
			x = end
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// run draws neighbours of one style: the background, then the text.
func (p Picture) run(b *strings.Builder, cells []cell, x, y float64) {
	style := cells[0].style
	fg, bg := style.Fg, style.Bg
	if fg == nil {
		fg = p.Foreground
	}
	if style.Attrs&uv.AttrReverse != 0 {
		if bg == nil {
			bg = p.Background
		}
		fg, bg = bg, fg
	}
	if bg != nil {
		fmt.Fprintf(b, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>`+"\n", x, y, float64(len(cells))*cellWidth+.3, cellHeight+.3, hex(bg))
	}
	for from := 0; from < len(cells); {
		to := from + 1
		if shape(b, cells[from].text, x+float64(from)*cellWidth, y, fg) {
			from = to
			continue
		}
		for ; to < len(cells) && !gap(cells[to-1:to+1]) && !drawn(cells[to].text); to++ {
		}
		p.text(b, cells[from:to], x+float64(from)*cellWidth, y+baseline, style, fg)
		from = to
	}
}

// shapes are the signs that are drawn and not written, so that they meet those beside and below
// them whatever the font: where they begin and end in their cell, as shares of it, and how
// thick a line is instead.
var shapes = map[string]struct{ x, y, w, h float64 }{
	"│": {x: .5, h: 1}, "─": {y: .5, w: 1}, "▌": {w: .5, h: 1}, "█": {w: 1, h: 1}, "▀": {w: 1, h: .5}, "▄": {y: .5, w: 1, h: .5},
}

func drawn(sign string) bool { _, ok := shapes[sign]; return ok }

// shape draws a sign, and reports whether it is one of those.
func shape(b *strings.Builder, sign string, x, y float64, fg color.Color) bool {
	s, ok := shapes[sign]
	if ok {
		fmt.Fprintf(b, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>`+"\n", x+s.x*cellWidth, y+s.y*cellHeight, max(1, s.w*cellWidth+.1), max(1, s.h*cellHeight+.1), hex(fg))
	}
	return ok
}

// gap reports whether a new text begins between two cells: after two spaces, so that
// columns stay aligned.
func gap(c []cell) bool { return c[0].text == " " && c[1].text == " " }

func (p Picture) text(b *strings.Builder, cells []cell, x, y float64, style uv.Style, fg color.Color) {
	var s strings.Builder
	for _, c := range cells {
		s.WriteString(c.text)
	}
	text := strings.TrimRight(s.String(), " ")
	if text == "" {
		return
	}
	width := len(cells) - (s.Len() - len(text))
	fmt.Fprintf(b, `<text x="%.2f" y="%.2f" textLength="%.2f" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
		x, y, float64(width)*cellWidth, hex(fg), looks(style), html.EscapeString(text))
}

// looks are a text's attributes other than its colour.
func looks(style uv.Style) string {
	out := ""
	if style.Attrs&uv.AttrBold != 0 {
		out += ` font-weight="bold"`
	}
	if style.Attrs&uv.AttrItalic != 0 {
		out += ` font-style="italic"`
	}
	if style.Attrs&uv.AttrFaint != 0 {
		out += ` opacity=".6"`
	}
	switch {
	case style.Attrs&uv.AttrStrikethrough != 0:
		out += ` text-decoration="line-through"`
	case style.Underline != uv.UnderlineNone:
		out += ` text-decoration="underline"`
	}
	return out
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
