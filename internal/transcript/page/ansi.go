package page

import (
	"strconv"
	"strings"

	"lathe/internal/printable"
)

// maxColours bounds how often a text may change its colours; one that does so more often
// was made to be large, and is shown without.
const maxColours = 4000

// console returns what a command printed as HTML: colours as classes, lines that were
// written again and again as they stood in the end, everything else of a terminal left out.
func console(out string) string {
	out = strings.Trim(out, "\n")
	if strings.Count(out, "\x1b[") > maxColours {
		return escaper.Replace(strings.Trim(printable.Text(out, printable.Options{Return: printable.RewriteLine}), "\n"))
	}
	var b strings.Builder
	var p pen
	for l := range strings.Lines(out) {
		l, colours := overwritten(l)
		for _, c := range colours {
			p.set(c)
		}
		for l != "" {
			start, end := sequence(l)
			p.write(&b, printable.Text(l[:start], printable.Options{}))
			if end > start {
				p.set(l[start:end])
			}
			l = l[end:]
		}
	}
	p.close(&b)
	return strings.Trim(b.String(), "\n")
}

// overwritten returns what a line shows to whose beginning was returned, and the sequences
// before that, which stay in force.
func overwritten(l string) (shown string, colours []string) {
	body := strings.TrimRight(l, "\r\n")
	i := strings.LastIndexByte(body, '\r')
	if i < 0 {
		return l, nil
	}
	for before := body[:i]; before != ""; {
		start, end := sequence(before)
		if end > start {
			colours = append(colours, before[start:end])
		}
		before = before[end:]
	}
	return body[i+1:] + l[len(body):], colours
}

// sequence finds the first sequence that sets colours; without one both are the length.
func sequence(s string) (start, end int) {
	for at := 0; ; {
		i := strings.Index(s[at:], "\x1b[")
		if i < 0 {
			return len(s), len(s)
		}
		at += i + 2
		if n := sgr(s[at:]); n > 0 {
			return at - 2, at + n
		}
	}
}

// sgr returns the length of the parameters, and the "m" after them, that a text begins
// with; 0 means that it begins with none.
func sgr(s string) int {
	i := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
	if i < 0 || i > 64 || s[i] != 'm' {
		return 0
	}
	return i + 1
}

// pen is how a terminal writes: a colour from 1 to 8, or 0 for its own, and looks.
type pen struct {
	colour                        int
	bold, dim, italic, underlined bool
	open                          string // class of the span that is open
}

func (p *pen) write(b *strings.Builder, shown string) {
	if class := p.class(); class != p.open && strings.TrimSpace(shown) != "" {
		p.close(b)
		if class != "" {
			b.WriteString(`<span class="` + class + `">`)
		}
		p.open = class
	}
	b.WriteString(escaper.Replace(shown))
}

func (p *pen) close(b *strings.Builder) {
	if p.open != "" {
		b.WriteString("</span>")
		p.open = ""
	}
}

func (p *pen) class() string {
	var out []string
	if p.colour > 0 {
		out = append(out, "a"+strconv.Itoa(p.colour-1))
	}
	for _, look := range []struct {
		on   bool
		name string
	}{{p.bold, "h"}, {p.dim, "d"}, {p.italic, "it"}, {p.underlined, "ul"}} {
		if look.on {
			out = append(out, look.name)
		}
	}
	return strings.Join(out, " ")
}

// set obeys a sequence.
func (p *pen) set(sequence string) {
	params := strings.TrimSuffix(strings.TrimPrefix(sequence, "\x1b["), "m")
	list := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if len(list) == 0 {
		list = []string{"0"}
	}
	for i := 0; i < len(list); i++ {
		n, err := strconv.Atoi(list[i])
		if err != nil {
			continue
		}
		if n == 38 || n == 48 {
			c, used := extended(list[i+1:])
			if n == 38 {
				p.colour = c
			}
			i += used
			continue
		}
		p.one(n)
	}
}

func (p *pen) one(n int) {
	switch {
	case n == 0:
		p.colour, p.bold, p.dim, p.italic, p.underlined = 0, false, false, false, false
	case n == 1:
		p.bold = true
	case n == 2:
		p.dim = true
	case n == 3:
		p.italic = true
	case n == 4:
		p.underlined = true
	case n == 22:
		p.bold, p.dim = false, false
	case n == 23:
		p.italic = false
	case n == 24:
		p.underlined = false
	case n >= 30 && n <= 37:
		p.colour = n - 29
	case n == 39:
		p.colour = 0
	case n >= 90 && n <= 97:
		p.colour = n - 89
	}
}

// extended reads a colour of 256 or of 16 million as the nearest of eight, which can be
// read on a light and on a dark page. used is how many parameters it took.
func extended(list []string) (colour, used int) {
	at := func(i int) int {
		if i >= len(list) {
			return 0
		}
		n, _ := strconv.Atoi(list[i])
		return max(0, min(n, 255))
	}
	switch at(0) {
	case 5:
		return indexed(at(1)), 2
	case 2:
		return nearest(at(1), at(2), at(3)), 4
	}
	return 0, 1
}

func indexed(n int) int {
	switch {
	case n < 16:
		return n%8 + 1
	case n >= 232:
		return 8 // greys
	}
	n -= 16
	return nearest(n/36*51, n/6%6*51, n%6*51)
}

// nearest returns the one of eight colours that has the same strong components.
func nearest(r, g, b int) int {
	top, low := max(r, g, b), min(r, g, b)
	if top-low < 40 {
		return 8
	}
	half := (top + low) / 2
	c := 1
	for i, v := range []int{r, g, b} {
		if v > half {
			c += 1 << i
		}
	}
	return c
}
