package compose

import (
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// offer is a list of Completions for the word at the caret.
type offer struct {
	kind  byte   // '@', '/' or 0 for none
	from  int    // where the word begins, its mark included
	query string // without the mark
	items []Completion
	at    int
	off   string // the word for which the person dismissed it
}

// Completion is one thing to complete to.
type Completion struct {
	Insert, Label, Detail string
	Run                   bool // choosing it sends it
}

// shown reports whether Completions are shown.
func (o *offer) shown() bool { return o.kind != 0 && len(o.items) > 0 }

// first returns the index of the first Completion shown.
func (o *offer) first(most int) int {
	return max(0, min(o.at-most/2, len(o.items)-most))
}

// draw returns the Completions as lines.
func (o *offer) draw(l look.Look, most int) []styled.Line {
	if !o.shown() || most < 1 {
		return nil
	}
	items := o.items
	first := o.first(most)
	wide := 0
	for _, c := range items {
		wide = max(wide, styled.Width(c.Label, l.Method))
	}
	wide = min(wide, l.Width*2/3)
	var out []styled.Line
	for n := first; n < min(len(items), first+most); n++ {
		c := items[n]
		line := styled.Plain(" "+c.Label, l.FG(theme.Text)).Cut(wide+1, l.Method).Pad(wide+1, l.Method, "")
		line = append(line, styled.Span{Text: "  " + l.T(c.Detail), Style: l.FG(theme.Muted)})
		out = append(out, l.Row(line, n == o.at))
	}
	return out
}
