package theme

import (
	"fmt"
	"math"
)

// Least is the contrast that text has on each of its backgrounds: what WCAG
// requires for text of normal size.
const Least = 4.5

const high = 7 // for the themes with high contrast

// A terminal's own background is not known; these are the least favourable
// common ones.
const (
	commonDark  = "#21252b"
	commonLight = "#f4f4f4"
)

// textKeys are what text is drawn in, on the background, in sheets and on the row
// that is marked.
var textKeys = [...]Key{Text, Muted, Primary, Secondary, Accent, Error, Warning, Success, Info}

// backdrop is the colour of a background behind text.
func (t *Theme) backdrop(k Key) string {
	if c := t.color(k); c != "" {
		return c
	}
	if t.Light {
		return commonLight
	}
	return commonDark
}

// pair is a kind of text and its backgrounds.
type pair struct {
	text Key
	on   []Key
}

// pairs returns all kinds of text.
func pairs() []pair {
	var out []pair
	for _, k := range textKeys {
		out = append(out, pair{k, []Key{Background, Panel, Element}})
	}
	return append(out, pair{DiffAdded, []Key{DiffAddedBg, Panel}}, pair{DiffRemoved, []Key{DiffRemovedBg, Panel}},
		pair{DiffNumber, []Key{DiffAddedBg, DiffRemovedBg, Background, Panel}})
}

// legible moves the colours of text away from their backgrounds, as far as is
// needed to read them, and keeps their hue.
func (t *Theme) legible(least float64) *Theme {
	for _, p := range pairs() {
		c := t.color(p.text)
		if _, _, _, ok := rgb(c); !ok {
			continue
		}
		to := "#ffffff"
		if t.Light {
			to = "#000000"
		}
		for percent := 0; percent <= 100; percent += 4 {
			if moved := mix(c, to, percent); t.reads(moved, p.on, least) {
				t.colors[p.text] = moved
				break
			}
		}
	}
	return t
}

// reads reports whether a colour can be read on all its backgrounds.
func (t *Theme) reads(c string, on []Key, least float64) bool {
	for _, k := range on {
		if contrast(c, t.backdrop(k)) < least {
			return false
		}
	}
	return true
}

// luminance is the relative luminance of a colour as WCAG defines it.
func luminance(c string) float64 {
	r, g, b, _ := rgb(c)
	lin := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// paletteColor returns a colour of the 256-colour palette as xterm shows it.
func paletteColor(n int) string {
	if n < 16 {
		return [...]string{
			"#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
			"#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
		}[n]
	}
	if n >= 232 {
		v := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", v, v, v)
	}
	level := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}
