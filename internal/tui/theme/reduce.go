package theme

import (
	"math"
	"strconv"
	"sync"
)

// Palette returns the theme in the 256 colours that nearly every terminal has.
// Colours with a hue keep it, so that red stays red, and text stays legible on its
// backgrounds.
func (t *Theme) Palette() *Theme {
	out := &Theme{Name: t.Name, Light: t.Light, own: t.own, depth: max(t.depth, palette256), colors: map[Key]string{}}
	if t.light != nil {
		out.light = t.light.Palette()
	}
	any := func(string) bool { return true }
	for k, c := range t.colors {
		out.colors[k] = nearest(c, distance, any)
	}
	for _, k := range []Key{Background, Panel, Element, DiffAddedBg, DiffRemovedBg, Selected} {
		out.colors[k] = nearest(t.color(k), apart, any)
	}
	for _, p := range pairs() {
		if c := t.color(p.text); c != "" {
			out.colors[p.text] = nearest(c, distance, func(c string) bool { return out.legibleOn(c, p.on) })
		}
	}
	return out
}

func (t *Theme) legibleOn(c string, on []Key) bool {
	for _, k := range on {
		bg := t.backdrop(k)
		if n, err := strconv.Atoi(bg); err == nil {
			bg = paletteColor(n)
		}
		if contrast(c, bg) < Least {
			return false
		}
	}
	return true
}

// seen is a colour as eyes see it: lightness, red against green, yellow against blue.
type seen struct{ l, rg, yb float64 }

func opponent(c string) seen {
	r, g, b, _ := rgb(c)
	x, y, z := float64(r), float64(g), float64(b)
	return seen{0.299*x + 0.587*y + 0.114*z, (x - y) / 2, (x+y)/4 - z/2}
}

// hue is how far a colour is from grey.
func (s seen) hue() float64 { return math.Hypot(s.rg, s.yb) }

// turned is how much of the hue of one colour another has: 1 all, 0 none, -1 its
// opposite.
func (s seen) turned(o seen) float64 { return (s.rg*o.rg + s.yb*o.yb) / (s.hue() * o.hue()) }

// firstOwn is the first colour of the palette that is the same in every terminal.
const firstOwn = 16

// colors256 returns the palette.
var colors256 = sync.OnceValue(func() (out [256]seen) {
	for n := range out {
		out[n] = opponent(paletteColor(n))
	}
	return out
})

// nearest returns the number of the palette's colour nearest to c among those
// that will accepts; palette numbers and the terminal's own colour stay as they
// are.
func nearest(c string, apart func(a, b seen) float64, will func(c string) bool) string {
	if _, _, _, ok := rgb(c); !ok {
		return c
	}
	want, all := opponent(c), colors256()
	best, least := -1, math.Inf(1)
	for n := firstOwn; n < len(all); n++ {
		if d := apart(want, all[n]); d < least && will(paletteColor(n)) {
			best, least = n, d
		}
	}
	if best < 0 {
		return c
	}
	return strconv.Itoa(best)
}

// apart is how far two backgrounds are from each other. Lightness counts most,
// because text is drawn on them.
func apart(a, b seen) float64 { return 4*sq(a.l-b.l) + sq(a.rg-b.rg) + sq(a.yb-b.yb) }

// distance says how different two colours of text look. A lost or changed hue counts
// more than a difference in lightness.
func distance(a, b seen) float64 {
	d := sq(a.l-b.l) + 4*(sq(a.rg-b.rg)+sq(a.yb-b.yb))
	switch {
	case a.hue() <= 12:
	case b.hue() < a.hue()/3:
		return d + 1e6 // a colour must not become grey
	case a.turned(b) < 0.8:
		return d + 1e5 // a different hue
	}
	return d
}

func sq(x float64) float64 { return x * x }
