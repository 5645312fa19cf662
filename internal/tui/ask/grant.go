package ask

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/approval"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// grantStep is the outcome of a key in a [grantForm].
type grantStep int

const (
	grantStay grantStep = iota
	grantBack
	grantGive
)

// grantForm shows what an answer would allow from then on, and lets the person
// change it. Nothing is allowed until they confirm it.
type grantForm struct {
	offers  []approval.Offer // the least first
	n       int              // index of the one shown
	project bool             // for good; else for a while
	own     *edit.Editor     // set while the person edits the patterns
	note    string           // what is wrong with them
	at      int              // the marked row
	first   int              // the line of the first row, as of the last drawing
	body    dialog.Reader
}

// grantRow is one thing that can be done in the form.
type grantRow struct{ key, label string }

func (g *grantForm) offer() approval.Offer { return g.offers[g.n] }

// rows are what can be done; the first one does nothing.
func (g *grantForm) rows(l look.Look) []grantRow {
	out := []grantRow{{"esc", "back; nothing is allowed yet"}, {dialog.GiveKey, "allow this " + g.offer().Where(g.project)}}
	if len(g.offers) > 1 {
		other := g.offers[(g.n+1)%len(g.offers)]
		out = append(out, grantRow{l.Glyph("←→", "left"), "instead: " + inWords(l, other)})
	}
	return append(out, grantRow{"tab", "instead " + g.offer().Where(!g.project)}, grantRow{"e", "change what is allowed"})
}

// do carries out what a row is for.
func (g *grantForm) do(key string) grantStep {
	switch key {
	case "esc":
		return grantBack
	case dialog.GiveKey:
		return grantGive
	case "tab":
		g.project = !g.project
	case "e":
		g.own = &edit.Editor{}
		g.own.Set(strings.Join(g.offer().Patterns, "\n"))
	case "left", "←→":
		g.n = (g.n + len(g.offers) - 1) % len(g.offers)
	case "right":
		g.n = (g.n + 1) % len(g.offers)
	}
	return grantStay
}

func (g *grantForm) key(h dialog.Host, k tea.KeyPressMsg, stroke string) grantStep {
	rows := g.rows(h.Look())
	switch {
	case g.own != nil:
		g.write(h, k, stroke)
	case stroke == "ctrl+c":
		return grantBack
	case stroke == "up" || stroke == "shift+tab":
		g.at = (g.at + len(rows) - 1) % len(rows)
	case stroke == "down":
		g.at = (g.at + 1) % len(rows)
	case stroke == "enter":
		return g.do(rows[min(g.at, len(rows)-1)].key)
	case g.body.Key(stroke):
	default:
		return g.do(stroke)
	}
	return grantStay
}

func (g *grantForm) click(y int) grantStep {
	rows := g.rows(look.Look{})
	i := y - g.first
	switch {
	case g.own != nil || i < 0 || i >= len(rows):
	case g.at == i:
		return g.do(rows[i].key)
	default:
		g.at = i
	}
	return grantStay
}

// write takes the keys while the patterns are changed: one a line.
func (g *grantForm) write(h dialog.Host, k tea.KeyPressMsg, stroke string) {
	l := h.Look()
	g.note = ""
	switch {
	case stroke == "esc" || stroke == "ctrl+c":
		g.own = nil
	case stroke == "enter":
		var patterns []string
		for line := range strings.Lines(g.own.Text()) {
			if line = strings.TrimSpace(line); line != "" {
				patterns = append(patterns, line)
			}
		}
		if g.note = approval.Check(patterns); g.note == "" {
			o := g.offer()
			o.Patterns = patterns
			g.offers, g.n, g.own, g.at = []approval.Offer{o}, 0, nil, 0
		}
	case k.Text != "":
		g.own.Type(k.Text)
	default:
		for _, act := range h.Keys().Plain(stroke) {
			switch act {
			case keys.HistoryPrevious, keys.Up:
				g.own.Vertical(-1, l.Width, l.Method)
				return
			case keys.HistoryNext, keys.Down:
				g.own.Vertical(1, l.Width, l.Method)
				return
			}
			if g.own.Do(act) {
				return
			}
		}
	}
}

func (g *grantForm) draw(l look.Look, height int) ([]styled.Line, int, int) {
	if g.own != nil {
		return g.drawPatterns(l, height)
	}
	out := []styled.Line{l.Title("allow from now on", "nothing is allowed yet")}
	var body []styled.Line
	for _, w := range slices.Concat([]string{"Without being asked again, " + g.offer().Where(g.project) + ":"}, g.offer().Words()) {
		mark := "  " + l.Glyph("• ", "- ")
		if len(body) == 0 {
			mark = ""
		}
		body = append(body, styled.Wrap(styled.Line{{Text: mark, Style: l.FG(theme.Muted)}, {Text: l.T(styled.OneLine(w)), Style: l.FG(theme.Text)}}, l.Width-3, l.Method)...)
	}
	rows := g.rows(l)
	for _, line := range g.body.Window(l, body, max(1, height-1-len(rows))) {
		out = append(out, l.Row(line, false))
	}
	g.first, g.at = len(out), min(g.at, len(rows)-1)
	for i, r := range rows {
		key := styled.Plain(r.key, l.FG(theme.Accent, styled.Bold)).Pad(len(dialog.GiveKey)+2, l.Method, "")
		out = append(out, l.Row(append(key, styled.Span{Text: l.T(r.label), Style: l.FG(theme.Text)}), i == g.at))
	}
	return out, -1, 0
}

// drawPatterns draws the patterns that are changed, and where the caret is.
func (g *grantForm) drawPatterns(l look.Look, height int) ([]styled.Line, int, int) {
	out := []styled.Line{l.Title("change what is allowed", "enter done · esc back")}
	for _, text := range []string{g.note, "One pattern a line; * is anything. Nothing is allowed yet."} {
		key := theme.Muted
		if text == g.note {
			key = theme.Warning
		}
		if text == "" {
			continue
		}
		for _, line := range styled.Wrap(styled.Plain(l.T(text), l.FG(key)), l.Width-3, l.Method) {
			out = append(out, l.Row(line, false))
		}
	}
	before := g.own.Text()[:g.own.Caret()]
	row := strings.Count(before, "\n")
	lines := strings.Split(g.own.Text(), "\n")
	room := max(1, height-len(out))
	top := max(0, min(row-room/2, len(lines)-room))
	shown, caret := edit.OneRow(lines[row], len(before)-strings.LastIndexByte(before, '\n')-1, l.Width-3, l.Method)
	x, y := 2+caret, len(out)+row-top
	lines[row] = shown
	for _, text := range lines[top:min(len(lines), top+room)] {
		out = append(out, l.Row(styled.Plain(text, l.FG(theme.Text)), false))
	}
	return out, min(x, l.Width-1), y
}
