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
	runs := printable.Runs(strings.Trim(out, "\n"), printable.Options{Return: printable.RewriteLine})
	var b strings.Builder
	open, decorated := "", false // the class of the span that is open
	for _, r := range runs {
		class := classes(r.Look)
		if len(runs) > maxColours {
			class = ""
		} else if strings.TrimSpace(r.Text) == "" && !showsBlanks(r.Look) && !decorated {
			class = open // blanks have no colour
		}
		if class != open {
			b.WriteString(ended(open))
			if open, decorated = class, showsBlanks(r.Look); class != "" {
				b.WriteString("<span class=" + value(class) + ">")
			}
		}
		b.WriteString(escaper.Replace(r.Text))
	}
	return strings.Trim(b.String()+ended(open), "\n")
}

func ended(class string) string {
	if class == "" {
		return ""
	}
	return "</span>"
}

// inverted reports whether text is shown in the colour of the page on its own colour, which
// can be read as well as the colour on the page.
func inverted(l printable.Look) bool { return l.Reverse != (l.BG.Basic() != 0) }

// showsBlanks reports whether blanks can be seen in a look.
func showsBlanks(l printable.Look) bool { return inverted(l) || l.Underline || l.Strike }

// classes returns the classes of a look: the nearest of six colours, which can be read on a light
// and on a dark page, and how it is set.
func classes(l printable.Look) string {
	colour := l.FG.Basic()
	if bg := l.BG.Basic(); bg != 0 {
		colour = bg
	}
	var out []string
	if colour > 0 && colour < printable.Grey {
		out = append(out, "a"+strconv.Itoa(colour))
	}
	for _, look := range []struct {
		on   bool
		name string
	}{{l.Bold, "h"}, {colour == printable.Grey || l.Faint && colour == 0, "d"}, {l.Italic, "it"}, {l.Underline, "ul"}, {l.Strike, "st"}, {inverted(l), "v"}} {
		if look.on {
			out = append(out, look.name)
		}
	}
	return strings.Join(out, " ")
}
