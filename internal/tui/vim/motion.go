package vim

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
)

// span is what a motion covers, from where the caret is.
type span struct {
	to    int  // where it leads
	lines bool // it covers whole lines
	whole bool // the character at its end belongs to it
	from  int  // where it begins, for text objects; else -1
}

// motion says where a motion leads; false if it is none.
func motion(e *edit.Editor, c command) (s span, ok bool) {
	text, at := e.Text(), e.Caret()
	s = span{to: at, from: -1}
	switch c.name {
	case "0":
		s.to = e.LineStart()
	case "^", "_":
		s.to = firstWord(text, e.LineStart())
	case "$":
		s.to = e.LineEnd()
		for range c.times() - 1 {
			s.to = endOfLine(text, min(s.to+1, len(text)))
		}
	case "gg", "G":
		s.lines = true
		if s.to = 0; c.name == "G" && c.count == 0 {
			s.to = startOfLine(text, len(text))
		}
		for range max(c.count-1, 0) {
			s.to = nextLine(text, s.to)
		}
	case "j", "k":
		s.lines = true
		for range c.times() {
			if c.name == "j" {
				s.to = nextLine(text, s.to)
			} else if start := startOfLine(text, s.to); start > 0 {
				s.to = startOfLine(text, start-1)
			}
		}
	case "f", "F", "t", "T":
		return toChar(text, at, e.LineStart(), e.LineEnd(), c)
	case "iw", "aw":
		s.from, s.to = around(text, at, c.name == "aw")
	default:
		return byWords(text, e, c)
	}
	return s, true
}

// byWords are the motions of characters and words.
func byWords(text string, e *edit.Editor, c command) (s span, ok bool) {
	s = span{to: e.Caret(), from: -1}
	for range c.times() {
		switch c.name {
		case "h":
			if s.to > e.LineStart() {
				_, n := utf8.DecodeLastRuneInString(text[:s.to])
				s.to = e.Aligned(s.to - n)
			}
		case "l":
			if s.to < e.LineEnd() {
				s.to = e.AfterAt(s.to)
			}
		case "w", "W":
			s.to = forward(text, s.to, c.name == "W")
		case "b", "B":
			s.to = backward(text, s.to, c.name == "B")
		case "e", "E":
			s.to, s.whole = endOfWord(text, s.to, c.name == "E"), true
		default:
			return s, false
		}
	}
	return s, true
}

// class tells blanks, words and the rest apart; with big, only blanks and the rest.
func class(r rune, big bool) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case big || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '_':
		return 1
	}
	return 2
}

func runeAt(text string, at int) (r rune, n int) { return utf8.DecodeRuneInString(text[at:]) }

// forward returns where the next word begins.
func forward(text string, at int, big bool) int {
	if at >= len(text) {
		return at
	}
	r, _ := runeAt(text, at)
	for kind := class(r, big); at < len(text); {
		r, n := runeAt(text, at)
		if class(r, big) != kind {
			break
		}
		at += n
	}
	for at < len(text) {
		r, n := runeAt(text, at)
		if !unicode.IsSpace(r) {
			break
		}
		at += n
	}
	return at
}

// backward returns where the word before begins.
func backward(text string, at int, big bool) int {
	last := func() (rune, int) { return utf8.DecodeLastRuneInString(text[:at]) }
	for at > 0 {
		r, n := last()
		if !unicode.IsSpace(r) {
			break
		}
		at -= n
	}
	if at == 0 {
		return 0
	}
	r, _ := last()
	for kind := class(r, big); at > 0; {
		r, n := last()
		if class(r, big) != kind {
			break
		}
		at -= n
	}
	return at
}

// endOfWord returns where the last character of this word or the next one is.
func endOfWord(text string, at int, big bool) int {
	if at < len(text) {
		_, n := runeAt(text, at)
		at += n
	}
	for at < len(text) {
		r, n := runeAt(text, at)
		if !unicode.IsSpace(r) {
			break
		}
		at += n
	}
	if at >= len(text) {
		return len(text)
	}
	r, _ := runeAt(text, at)
	for kind := class(r, big); ; {
		_, n := runeAt(text, at)
		if at+n >= len(text) {
			return at
		}
		if next, _ := runeAt(text, at+n); class(next, big) != kind {
			return at
		}
		at += n
	}
}

// around returns the word at a place, with the blanks after it if all is wanted.
func around(text string, at int, all bool) (from, to int) {
	if at >= len(text) {
		return at, at
	}
	r, _ := runeAt(text, at)
	kind := class(r, false)
	from, to = at, at
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:from])
		if class(r, false) != kind || r == '\n' {
			break
		}
		from -= n
	}
	for to < len(text) {
		r, n := runeAt(text, to)
		if class(r, false) != kind || r == '\n' {
			break
		}
		to += n
	}
	for all && to < len(text) && text[to] == ' ' {
		to++
	}
	return from, to
}

// toChar finds a character in the line.
func toChar(text string, at, start, end int, c command) (s span, ok bool) {
	s = span{to: at, from: -1}
	back := c.name == "F" || c.name == "T"
	for range c.times() {
		if back {
			i := strings.LastIndex(text[start:s.to], c.char)
			if i < 0 {
				return s, false
			}
			s.to = start + i
			continue
		}
		_, n := runeAt(text, s.to)
		i := strings.Index(text[min(s.to+n, end):end], c.char)
		if i < 0 {
			return s, false
		}
		s.to += n + i
	}
	switch c.name {
	case "f":
		s.whole = true
	case "t":
		_, n := utf8.DecodeLastRuneInString(text[:s.to])
		s.to, s.whole = s.to-n, true
	case "T":
		s.to += len(c.char)
	}
	return s, true
}

func startOfLine(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

func endOfLine(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// nextLine returns where the next line begins, or this one if it is the last.
func nextLine(text string, at int) int {
	if end := endOfLine(text, at); end < len(text) {
		return end + 1
	}
	return startOfLine(text, at)
}

func firstWord(text string, start int) int {
	for at := start; at < len(text) && text[at] != '\n'; at++ {
		if text[at] != ' ' && text[at] != '\t' {
			return at
		}
	}
	return start
}

// vertical moves by rows as they are drawn.
func vertical(e *edit.Editor, c command, room Room) {
	dir := 1
	if c.name == "k" {
		dir = -1
	}
	for range c.times() {
		if !e.Vertical(dir, room.Width, room.Method) {
			return
		}
	}
}

var undoes = map[string]keys.Action{"u": keys.InputUndo, "ctrl+r": keys.InputRedo}
