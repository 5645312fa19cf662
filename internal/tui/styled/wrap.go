package styled

import "strings"

// Wrap breaks text into lines of at most width cells: at line breaks, between
// words, beside ideographs, and within words that are too long. Blanks at a break
// are dropped. There is at least one line.
func Wrap(in Line, width int, m Method) []Line {
	w := wrapper{in: in, width: max(width, 1), m: m}
	for i := range in {
		w.span(i)
	}
	w.endWord()
	w.endLine()
	return w.out
}

// piece is a stretch of one span of the input.
type piece struct{ span, from, to, width int }

// wrapper collects a word, then adds it to the line it fits on.
type wrapper struct {
	in    Line
	width int
	m     Method

	out              []Line
	line, gap, word  []piece
	lineW, gapW, wdW int
	ideograph        bool // the word is an ideograph, and what clings to it
	next             Cont // how the next line continues
}

func (w *wrapper) span(i int) {
	text := w.in[i].Text
	for at := 0; at < len(text); {
		c, cells := cluster(text[at:], w.m)
		p := piece{i, at, at + len(c), cells}
		at += len(c)
		switch {
		case c == "\n":
			w.endWord()
			w.endLine()
		case c == " ":
			w.endWord()
			w.gap, w.gapW = extend(w.gap, p), w.gapW+cells
		case cells > 1 && !clings(c):
			w.endWord()
			w.word, w.wdW = extend(w.word, p), cells
			w.ideograph = true
		default:
			if w.ideograph && !clings(c) {
				w.endWord()
			}
			w.grow(p)
		}
	}
}

// clings reports whether a cluster is closing punctuation of East Asian text,
// which must not begin a line.
func clings(c string) bool {
	return strings.ContainsAny(c, "、。，．・：；？！）］｝」』】〉》ー")
}

// grow adds a cluster to the word, which is broken when it fills a whole line.
func (w *wrapper) grow(p piece) {
	if w.wdW+p.width > w.width {
		w.endWord()
		w.endLine()
		w.next = Within
	}
	w.word, w.wdW = extend(w.word, p), w.wdW+p.width
}

func extend(list []piece, p piece) []piece {
	if n := len(list); n > 0 && list[n-1].span == p.span && list[n-1].to == p.from {
		list[n-1].to, list[n-1].width = p.to, list[n-1].width+p.width
		return list
	}
	return append(list, p)
}

func (w *wrapper) endWord() {
	if len(w.word) == 0 {
		return
	}
	if w.lineW+w.gapW+w.wdW > w.width && (w.lineW > 0 || w.gapW > 0) {
		if w.lineW > 0 {
			next := Within
			if w.gapW > 0 {
				next = Blank
			}
			w.endLine()
			w.next = next
		}
		w.gap, w.gapW = w.gap[:0], 0
	}
	for _, p := range w.gap {
		w.line = extend(w.line, p)
	}
	for _, p := range w.word {
		w.line = extend(w.line, p)
	}
	w.lineW += w.gapW + w.wdW
	w.gap, w.gapW, w.word, w.wdW, w.ideograph = w.gap[:0], 0, w.word[:0], 0, false
}

func (w *wrapper) endLine() {
	line := make(Line, 0, len(w.line))
	for _, p := range w.line {
		s := w.in[p.span]
		line = append(line, Span{Text: s.Text[p.from:p.to], Style: s.Style, Link: s.Link})
	}
	if len(line) > 0 {
		line[0].Cont = w.next
	}
	w.next = Own
	w.out = append(w.out, line)
	w.line, w.lineW, w.gap, w.gapW = w.line[:0], 0, w.gap[:0], 0
}

// Hard breaks a line exactly at width cells and keeps all blanks, as code and
// command output want it.
func Hard(in Line, width int, m Method) []Line {
	if in.Width(m) <= width {
		return []Line{in}
	}
	var out []Line
	var line Line
	left, next := max(width, 2), Own
	add := func(s Span, text string) {
		s.Text, s.Cont, next = text, next, Own
		line = append(line, s)
	}
	for _, s := range in {
		from := 0
		for at := 0; at < len(s.Text); {
			c, cells := cluster(s.Text[at:], m)
			if cells > left {
				if at > from {
					add(s, s.Text[from:at])
				}
				out, line, from, left, next = append(out, line), nil, at, max(width, 2), Within
			}
			left -= cells
			at += len(c)
		}
		if from < len(s.Text) {
			add(s, s.Text[from:])
		}
	}
	return append(out, line)
}
