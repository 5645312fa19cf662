package printable

import "strings"

// Run is a stretch of text that a program printed in one look. Its text is harmless.
type Run struct {
	Text string
	Look Look
}

// Look is how a program asked a terminal to write. The zero value is plain.
type Look struct {
	FG, BG                                          Colour
	Bold, Faint, Italic, Underline, Strike, Reverse bool
}

// maxRuns bounds the runs of one text. Text that changes its look more often was made to be
// large; the rest of it is plain.
const maxRuns = 20_000

// Runs is [Text] for what a program printed: it also tells the colours. Joined, the runs are what
// Text returns for the same options; none is empty, and no two next to each other look the same.
func Runs(text string, o Options) []Run {
	if !strings.Contains(text, "\x1b[") {
		if text = Text(text, o); text == "" {
			return nil
		}
		return []Run{{Text: text}}
	}
	w := writer{Options: o, looks: &looks{}}
	w.out = make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		i += w.next(text[i:])
	}
	return w.looks.runs(string(w.out))
}

// looks notes where what a writer wrote changes its look.
type looks struct {
	now  Look
	from []change
}

type change struct {
	at   int
	look Look
}

// wrote notes that text follows at a place.
func (l *looks) wrote(at int) {
	n := len(l.from)
	if n == 0 && l.now == (Look{}) || n > 0 && l.from[n-1].look == l.now {
		return
	}
	if n >= maxRuns {
		l.now = Look{}
		if l.from[n-1].look == l.now {
			return
		}
	}
	l.from = append(l.from, change{at, l.now})
}

// cut forgets what was written after a place.
func (l *looks) cut(at int) {
	n := len(l.from)
	for n > 0 && l.from[n-1].at >= at {
		n--
	}
	l.from = l.from[:n]
}

func (l *looks) runs(text string) []Run {
	out := make([]Run, 0, len(l.from)+1)
	look, at := Look{}, 0
	for _, c := range append(l.from, change{at: len(text)}) {
		if c.at > at {
			out = append(out, Run{Text: text[at:c.at], Look: look})
		}
		look, at = c.look, c.at
	}
	return out
}

// selects returns the parameters of a sequence that selects colours and looks.
func selects(seq string) (params string, ok bool) {
	params, ok = strings.CutPrefix(seq, "\x1b[")
	if !ok || len(params) > 128 {
		return "", false
	}
	params, ok = strings.CutSuffix(params, "m")
	return params, ok && strings.Trim(params, "0123456789;:") == ""
}

// set obeys the parameters of a sequence.
func (l *Look) set(params string) {
	list := strings.Split(params, ";")
	for len(list) > 0 {
		list = list[l.one(list):]
	}
}

// one obeys the first parameter and returns how many it took.
func (l *Look) one(list []string) int {
	head, sub, _ := strings.Cut(list[0], ":")
	switch n := number(head); {
	case n == 0:
		*l = Look{}
	case n == 1:
		l.Bold = true
	case n == 2:
		l.Faint = true
	case n == 3:
		l.Italic = true
	case n == 4:
		l.Underline = sub != "0"
	case n == 7:
		l.Reverse = true
	case n == 9:
		l.Strike = true
	case n == 21: // a double line
		l.Underline = true
	case n == 22:
		l.Bold, l.Faint = false, false
	case n == 23:
		l.Italic = false
	case n == 24:
		l.Underline = false
	case n == 27:
		l.Reverse = false
	case n == 29:
		l.Strike = false
	case n >= 30 && n <= 37:
		l.FG = Indexed(n - 30)
	case n == 38:
		return extended(&l.FG, sub, list[1:])
	case n == 39:
		l.FG = 0
	case n >= 40 && n <= 47:
		l.BG = Indexed(n - 40)
	case n == 48:
		return extended(&l.BG, sub, list[1:])
	case n == 49:
		l.BG = 0
	case n == 58: // the colour of underlines
		var none Colour
		return extended(&none, sub, list[1:])
	case n >= 90 && n <= 97:
		l.FG = Indexed(n - 82)
	case n >= 100 && n <= 107:
		l.BG = Indexed(n - 92)
	}
	return 1
}

// extended reads a colour of the palette or any other, which follows in the same parameter
// after colons or in the next ones. It returns how many parameters it took.
func extended(c *Colour, sub string, rest []string) int {
	list, took := strings.Split(sub, ":"), 1
	if sub == "" {
		list, took = rest, 0
	}
	at := func(i int) int {
		if i >= len(list) {
			return 0
		}
		return min(number(list[i]), 255)
	}
	used := 1
	switch at(0) {
	case 5:
		*c, used = Indexed(at(1)), 2
	case 2:
		used = 4
		if took == 1 && len(list) > 4 { // the second says which space of colours
			list = list[1:]
		}
		*c = RGB(uint8(at(1)), uint8(at(2)), uint8(at(3)))
	}
	if took == 1 {
		return 1
	}
	return min(1+used, 1+len(rest))
}

// number reads a parameter; what is no number is 0, as on a terminal.
func number(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' || n > 9999 {
			return 9999
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}
