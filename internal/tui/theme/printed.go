package theme

import (
	"fmt"
	"strconv"

	"lathe/internal/printable"
	"lathe/internal/tui/styled"
)

// depth is which colours a theme keeps to.
type depth uint8

const (
	full       depth = iota
	palette256       // numbers of the palette that nearly every terminal has
	sixteen          // the terminal's own sixteen
)

// hues are the six colours of a palette on dark and on light, before they are made legible.
var hues = map[bool][7]string{
	false: {"", "#ff8f85", "#94d6a3", "#e3c56b", "#86b4f9", "#d9a2f0", "#7fd1d8"},
	true:  {"", "#b3261e", "#1a6b2c", "#7d5a00", "#0b57c2", "#8a1f8f", "#0b6670"},
}

// meant is what stands for the six colours where a theme keeps to sixteen, of which not all can be read.
var meant = map[int]Key{1: Error, 2: Success, 3: Warning, 4: Info, 5: Secondary, 6: Primary, printable.Grey: Muted}

// Printed returns the style of what a program printed in a look: its colours as far as the terminal has
// them, moved until they can be read in this theme. Whatever a program asks for, no text becomes
// invisible. The zero look has no style.
func (t *Theme) Printed(l printable.Look) styled.Style {
	fg, bg := l.FG, l.BG
	if l.Reverse {
		fg, bg = bg, fg
	}
	attrs := attributes(l)
	switch {
	case fg == 0 && bg == 0:
		return t.unpainted(l).With(attrs)
	case l.Reverse && bg == 0: // on the colour of text, which may be the terminal's own
		return t.letters(fg).With(styled.Reverse, attrs)
	case t.depth == sixteen:
		return t.few(fg, bg).With(attrs)
	case bg == 0:
		return t.letters(fg).With(attrs)
	}
	ground := t.ground(bg)
	return sgr(ground, "4", "48").With(sgr(t.over(fg, ground), "3", "38"), attrs)
}

func attributes(l printable.Look) (out styled.Style) {
	for _, a := range []struct {
		on    bool
		style styled.Style
	}{{l.Bold, styled.Bold}, {l.Italic, styled.Italic}, {l.Underline, styled.Underline}, {l.Strike, styled.Strike}} {
		if a.on {
			out = out.With(a.style)
		}
	}
	return out
}

// unpainted returns the style of a look without colours. Faint text is muted: the terminal's own
// faint can be too pale to read.
func (t *Theme) unpainted(l printable.Look) styled.Style {
	switch {
	case l.Reverse:
		return t.FG(Text, styled.Reverse)
	case l.Faint:
		return t.FG(Muted)
	case l.Bold:
		return t.FG(Text)
	}
	return ""
}

// few draws in the terminal's sixteen colours. What has a background is drawn reversed, so that
// its letters are in the terminal's own background, on which the colour can be read.
func (t *Theme) few(fg, bg printable.Colour) styled.Style {
	if k, ok := meant[bg.Basic()]; ok {
		return t.FG(k, styled.Reverse)
	}
	return t.letters(fg)
}

// letters returns the style of letters on the theme's backgrounds.
func (t *Theme) letters(c printable.Colour) styled.Style {
	if t.depth == sixteen || c.Basic() == printable.Grey {
		if k, ok := meant[c.Basic()]; ok {
			return t.FG(k)
		}
		return t.FG(Text)
	}
	asked := t.hex(c, "")
	if asked == "" {
		return t.FG(Text)
	}
	return sgr(t.fit(asked, func(c string) bool { return t.legibleOn(c, []Key{Background, Panel}) }, t.Light), "3", "38")
}

// hex returns a colour by its components; other for the terminal's own, black and white of the palette.
func (t *Theme) hex(c printable.Colour, other string) string {
	if r, g, b, ok := c.Components(); ok {
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	if n := c.Basic(); n > 0 && n < printable.Grey {
		return hues[t.Light][n]
	}
	return other
}

// ground returns the colour of a background that a program asked for.
func (t *Theme) ground(c printable.Colour) string {
	n, _ := c.Index()
	hex := t.hex(c, paletteColor(n))
	if t.depth == palette256 {
		return nearest(hex, apart, func(string) bool { return true })
	}
	return hex
}

// over returns the colour of letters on a background.
func (t *Theme) over(c printable.Colour, ground string) string {
	if n, err := strconv.Atoi(ground); err == nil {
		ground = paletteColor(n)
	}
	dark := contrast("#000000", ground) > contrast("#ffffff", ground)
	asked := t.hex(c, map[bool]string{true: "#000000", false: "#ffffff"}[dark])
	return t.fit(asked, func(c string) bool { return contrast(c, ground) >= Least }, dark)
}

// fit moves a colour towards black or white until it can be read, in the colours that there are.
func (t *Theme) fit(c string, reads func(string) bool, darker bool) string {
	to := "#ffffff"
	if darker {
		to = "#000000"
	}
	for percent := 0; percent <= 100; percent += 4 {
		moved := mix(c, to, percent)
		if !reads(moved) {
			continue
		}
		if t.depth == palette256 {
			moved = nearest(moved, distance, reads)
		}
		return moved
	}
	return to
}

// Terminal returns a theme in the terminal's own six colours and its own text, for where its
// background is not known.
func Terminal() *Theme {
	t := &Theme{Name: "terminal", depth: sixteen, own: true, colors: map[Key]string{Text: "", Muted: "", Background: ""}}
	for n, k := range meant {
		if n < printable.Grey {
			t.colors[k] = strconv.Itoa(n)
		}
	}
	return t
}
