package tui

import (
	"strings"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// maxInputRows bounds the height of the input; longer text scrolls in it.
const maxInputRows = 10

// input is where the person writes: the editor, what it offers to complete, and
// what was sent before.
type input struct {
	edit.Editor
	history edit.History
	offer   offer
	width   int
	method  styled.Method
}

// offer is a list of completions for the word at the caret.
type offer struct {
	kind  byte   // '@', '/' or 0 for none
	from  int    // where the word begins, its mark included
	query string // without the mark
	items []completion
	at    int
	off   string // the word for which the person waved it away
}

// completion is one thing to complete to.
type completion struct {
	insert, label, detail string
	run                   bool // choosing it sends it
}

func (i *input) resize(width int, m styled.Method) { i.width, i.method = max(width-3, 8), m }

// word returns the word at the caret that can be completed: "@file" anywhere,
// "/command" at the very start.
func (i *input) word() (kind byte, from int, query string) {
	text := i.Text()[:i.Caret()]
	from = strings.LastIndexAny(text, " \n") + 1
	w := text[from:]
	switch {
	case w == "":
	case w[0] == '/' && from == 0:
		return '/', from, w[1:]
	case w[0] == '@':
		return '@', from, w[1:]
	}
	return 0, 0, ""
}

// watch follows the word at the caret and reports whether completions for it have
// to be looked for.
func (i *input) watch() bool {
	kind, from, query := i.word()
	if kind == 0 || i.offer.off == i.Text()[from:i.Caret()] {
		off := i.offer.off
		if kind == 0 {
			off = ""
		}
		i.offer = offer{off: off}
		return false
	}
	if kind == i.offer.kind && from == i.offer.from && query == i.offer.query {
		return false
	}
	keep := i.offer.items
	if kind != i.offer.kind || from != i.offer.from {
		keep = nil
	}
	i.offer = offer{kind: kind, from: from, query: query, items: keep}
	return true
}

// offered reports whether completions are shown.
func (i *input) offered() bool { return i.offer.kind != 0 && len(i.offer.items) > 0 }

func (i *input) wave() {
	_, from, _ := i.word()
	i.offer = offer{off: i.Text()[from:i.Caret()]}
}

// choose completes to the item that is marked and reports whether to send it.
func (i *input) choose() (send bool) {
	c := i.offer.items[i.offer.at]
	if strings.HasSuffix(c.insert, "/") {
		c.insert += " " // the directory itself is meant
	}
	i.Replace(i.offer.from, c.insert)
	i.offer = offer{}
	return c.run
}

// into completes to the item that is marked; of a directory, what is in it is
// offered next.
func (i *input) into() {
	c := i.offer.items[i.offer.at]
	if c.insert == i.Text()[i.offer.from:i.Caret()] {
		i.offer.at = (i.offer.at + 1) % len(i.offer.items)
		return
	}
	i.Replace(i.offer.from, c.insert)
	i.offer = offer{}
}

// recall walks through what was sent before, at the first and last row only.
func (i *input) recall(a keys.Action) bool {
	text, ok := "", false
	if a == keys.HistoryPrevious {
		text, ok = i.history.Previous(i.Value())
	} else {
		text, ok = i.history.Next()
	}
	if ok {
		i.Set(text)
		i.offer = offer{off: i.Text()}
	}
	return ok
}

// typed is what the person wrote, taken apart.
type typed struct {
	text    string
	command string // without "/"
	args    string
	shell   string // after "!"
}

func (i *input) typed() typed {
	t := typed{text: strings.TrimSpace(i.Value())}
	switch {
	case strings.HasPrefix(t.text, "!"):
		t.shell = strings.TrimSpace(t.text[1:])
	case strings.HasPrefix(t.text, "/") && !strings.HasPrefix(t.text, "//"):
		name, args, _ := strings.Cut(t.text[1:], " ")
		if !strings.ContainsAny(name, "/\n") {
			t.command, t.args = name, strings.TrimSpace(args)
		}
	}
	return t
}

// draw returns the rows of the input and where in them the caret stands.
func (i *input) draw(l look.Look, mark styled.Line, hint string) (lines []styled.Line, x, y int) {
	rows, row, col := i.Layout(i.width, i.method)
	top := max(0, min(row-maxInputRows/2, len(rows)-maxInputRows))
	text := i.Text()
	for n := top; n < min(len(rows), top+maxInputRows); n++ {
		line := styled.Line{{Text: "   "}}
		if n == 0 {
			line = mark
		}
		body := i.shown(rows[n], l.FG(theme.Text))
		if text == "" {
			body = styled.Plain(hint, l.FG(theme.Muted))
		}
		lines = append(lines, styled.Join(line, body).Cut(l.Width, l.Method))
	}
	return lines, col + 3, row - top
}

// shown returns the text of a row, what is selected of it reversed.
func (i *input) shown(r edit.Row, style styled.Style) styled.Line {
	text := i.Text()
	from, to, ok := i.Selection()
	if from, to = max(from, r.From), min(to, r.To); !ok || from >= to {
		return styled.Plain(text[r.From:r.To], style)
	}
	return styled.Line{
		{Text: text[r.From:from], Style: style}, {Text: text[from:to], Style: style.With(styled.Reverse)}, {Text: text[to:r.To], Style: style},
	}
}

// firstOffer returns which completion is the first that is shown.
func (i *input) firstOffer(most int) int {
	return max(0, min(i.offer.at-most/2, len(i.offer.items)-most))
}

// put sets the caret to a cell of the input as it is drawn.
func (i *input) put(x, y int) {
	rows, row, _ := i.Layout(i.width, i.method)
	top := max(0, min(row-maxInputRows/2, len(rows)-maxInputRows))
	i.Place(top+y, x-3, i.width, i.method)
}

// drawOffer returns the completions as lines.
func (i *input) drawOffer(l look.Look, most int) []styled.Line {
	if !i.offered() || most < 1 {
		return nil
	}
	items := i.offer.items
	first := i.firstOffer(most)
	wide := 0
	for _, c := range items {
		wide = max(wide, styled.Width(c.label, l.Method))
	}
	wide = min(wide, l.Width*2/3)
	var out []styled.Line
	for n := first; n < min(len(items), first+most); n++ {
		c := items[n]
		line := styled.Plain(" "+c.label, l.FG(theme.Text)).Cut(wide+1, l.Method).Pad(wide+1, l.Method, "")
		line = append(line, styled.Span{Text: "  " + c.detail, Style: l.FG(theme.Muted)})
		out = append(out, l.Row(line, n == i.offer.at))
	}
	return out
}
