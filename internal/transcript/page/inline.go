package page

import (
	"strings"

	"lathe/internal/formula"
	"lathe/internal/markup"
)

// inline writes the text of a block.
func (w *writer) inline(text string) { w.run(text, 0, false) }

// run writes text; linked says that it is the label of a link.
func (w *writer) run(text string, depth int, linked bool) {
	var marks markup.Delimiters
	plain := 0
	for at := 0; at < len(text); {
		e, n := marks.Element(text, at, depth < markup.MaxNest, !linked)
		if n == 0 {
			at++
			continue
		}
		w.words(text[plain:at])
		w.element(e, text[at:at+n], depth, linked)
		at += n
		plain = at
	}
	w.words(text[plain:])
}

// words writes plain text; a line break in it was asked for.
func (w *writer) words(s string) {
	w.put(strings.ReplaceAll(escaper.Replace(s), "\n", "<br>\n"))
}

func (w *writer) element(e markup.Element, source string, depth int, linked bool) {
	switch e.Kind {
	case markup.Literal:
		w.put(text(e.Text))
	case markup.Code:
		w.put("<code>", escaper.Replace(e.Text), "</code>")
	case markup.Linked:
		w.link(e, depth)
	case markup.Auto:
		if linked {
			w.words(e.Text)
			return
		}
		w.anchor("<a href=", e.URL, func() { w.words(e.Text) })
	case markup.Strong:
		w.around("strong", e.Text, depth, linked)
	case markup.Emph:
		w.around("em", e.Text, depth, linked)
	case markup.StrongEmph:
		w.put("<strong>")
		w.around("em", e.Text, depth, linked)
		w.put("</strong>")
	case markup.Math:
		if said, ok := formula.Line(e.Text); ok {
			source = said
		}
		w.put("<em>", escaper.Replace(source), "</em>")
	case markup.Strike:
		w.around("s", e.Text, depth, linked)
	}
}

func (w *writer) around(tag, text string, depth int, linked bool) {
	w.put("<", tag, ">")
	w.run(text, depth+1, linked)
	w.put("</", tag, ">")
}

// link writes a link that can be followed, or what it says and names.
func (w *writer) link(e markup.Element, depth int) {
	if markup.Address(e.URL) {
		open := "<a class=to href=" // printed with its address
		if e.Text == e.URL {
			open = "<a href="
		}
		w.anchor(open, e.URL, func() { w.run(e.Text, depth+1, true) })
		return
	}
	w.run(e.Text, depth+1, true)
	if e.URL != "" && e.URL != e.Text && !strings.HasPrefix(e.URL, "#") && !strings.HasPrefix(e.URL, "data:") {
		w.put(" (", escaper.Replace(e.URL), ")")
	}
}

func (w *writer) anchor(open, url string, label func()) {
	w.put(open, attribute(url), ">")
	label()
	w.put("</a>")
}
