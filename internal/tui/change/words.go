package change

import (
	"lathe/internal/diff"
	"lathe/internal/tui/styled"
)

// marked is how the words that changed within a line stand out, with and without colours.
const marked = styled.Bold + ";" + styled.Underline

// mark finds the words that differ between removed lines and the added ones that stand for
// them. It does so only where as many lines were added as removed: elsewhere nobody can
// say which line became which.
func mark(list []change) {
	for i := 0; i < len(list); {
		if list[i].op != '-' {
			i++
			continue
		}
		end := blockEnd(list, i)
		added := i
		for added < end && list[added].op == '-' {
			added++
		}
		if n := added - i; n == end-added {
			for k := range n {
				differing(&list[i+k], &list[added+k])
			}
		}
		i = end
	}
}

// differing notes what differs between two lines; nothing where one is simply another line.
func differing(a, b *change) {
	removed, added := diff.Words(a.text, b.text)
	if rest(a.text, removed)+rest(b.text, added) == 0 || 3*rest(a.text, removed) < len(a.text) && 3*rest(b.text, added) < len(b.text) {
		return
	}
	a.changed, b.changed = removed, added
}

// rest counts the bytes of a text outside of spans.
func rest(text string, spans []diff.Span) int {
	n := len(text)
	for _, s := range spans {
		n -= s.End - s.Start
	}
	return n
}

// line returns the text with what changed in it marked.
func (c change) line(style styled.Style) styled.Line {
	var out styled.Line
	add := func(text string, style styled.Style) {
		if text != "" {
			out = append(out, styled.Span{Text: text, Style: style})
		}
	}
	at := 0
	for _, s := range c.changed {
		add(c.text[at:s.Start], style)
		add(c.text[s.Start:s.End], style.With(marked))
		at = s.End
	}
	add(c.text[at:], style)
	return out
}
