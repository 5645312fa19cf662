package theme

import (
	"maps"
	"slices"
)

// behind are the keys of what is drawn behind text, or around it.
var behind = []Key{Background, Panel, Element, DiffAddedBg, DiffRemovedBg, Selected, Border, BorderActive, Rule}

// Bare returns the theme for text that is printed on a terminal's own background, dark or light,
// which the theme's text can be read on. One that has no form for that background gives way to
// the default.
func (t *Theme) Bare(dark bool) *Theme {
	if t = t.For(dark); t.Light == dark {
		t = Default(dark)
	}
	out := &Theme{Name: t.Name, Light: t.Light, own: t.own, depth: t.depth, colors: maps.Clone(t.colors)}
	for _, k := range []Key{Background, Panel, Element} {
		out.colors[k] = ""
	}
	out.legible(Least)
	to := "#ffffff"
	if out.Light {
		to = "#000000"
	}
	for k, c := range out.colors {
		if _, _, _, ok := rgb(c); !ok || slices.Contains(behind, k) {
			continue
		}
		for percent := 0; percent <= 100; percent += 4 {
			if moved := mix(c, to, percent); out.reads(moved, []Key{Background}, Least) {
				out.colors[k] = moved
				break
			}
		}
	}
	return out
}

// Named returns the theme of a name, of the person's own or the built-in ones; nil if there is
// none. Of several of a name the last counts.
func Named(own []*Theme, name string) *Theme {
	for _, t := range slices.Backward(own) {
		if t.Name == name {
			return t
		}
	}
	if t, ok := Lookup(name); ok {
		return t
	}
	return nil
}
