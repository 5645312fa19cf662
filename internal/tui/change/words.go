package change

import (
	"unicode"
	"unicode/utf8"

	"lathe/internal/tui/styled"
)

// marked is how the words that changed within a line stand out, with and without colours.
const marked = styled.Bold + ";" + styled.Underline

// maxMarked bounds the lines whose words are compared, in bytes.
const maxMarked = 2000

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
				list[i+k].changed, list[added+k].changed = differing(list[i+k].text, list[added+k].text)
			}
		}
		i = end
	}
}

// differing returns the bytes of two lines between their common beginning and their common
// end, in whole words. Lines that have little in common are not compared.
func differing(a, b string) (inA, inB [2]int) {
	if len(a) > maxMarked || len(b) > maxMarked {
		return
	}
	x, y := words(a), words(b)
	from := 0
	for from < len(x) && from < len(y) && x[from] == y[from] {
		from++
	}
	till := 0
	for till < len(x)-from && till < len(y)-from && x[len(x)-1-till] == y[len(y)-1-till] {
		till++
	}
	head, tail := size(x[:from]), size(x[len(x)-till:])
	if same := visible(x[:from]) + visible(x[len(x)-till:]); same == 0 || 3*same < visible(x) && 3*same < visible(y) {
		return
	}
	return [2]int{head, len(a) - tail}, [2]int{head, len(b) - tail}
}

// words splits a line into words, and whatever else it holds into single characters.
func words(line string) (out []string) {
	for line != "" {
		n := 0
		for n < len(line) {
			r, size := utf8.DecodeRuneInString(line[n:])
			if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.Is(unicode.Han, r) {
				break
			}
			n += size
		}
		if n == 0 {
			_, n = utf8.DecodeRuneInString(line)
		}
		out, line = append(out, line[:n]), line[n:]
	}
	return out
}

func size(words []string) (n int) {
	for _, w := range words {
		n += len(w)
	}
	return n
}

// visible counts the bytes that are not blanks.
func visible(words []string) (n int) {
	for _, w := range words {
		if w != " " && w != "\t" {
			n += len(w)
		}
	}
	return n
}

// line returns the text with what changed in it marked.
func (c change) line(style styled.Style) styled.Line {
	from, till := c.changed[0], c.changed[1]
	if from >= till {
		return styled.Plain(c.text, style)
	}
	var out styled.Line
	for i, part := range []string{c.text[:from], c.text[from:till], c.text[till:]} {
		if part == "" {
			continue
		}
		as := style
		if i == 1 {
			as = style.With(marked)
		}
		out = append(out, styled.Span{Text: part, Style: as})
	}
	return out
}
