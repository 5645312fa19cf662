package mermaid

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

var (
	relation = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\S+)\s+(?:"([^"]*)"\s+)?(<\|--|--\|>|<\|\.\.|\.\.\|>|\*--|--\*|o--|--o|<--|-->|<\.\.|\.\.>|--|\.\.)\s+(?:"([^"]*)"\s+)?(\S+)(?:\s*:\s*(.*))?$`)
	})
	relates = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^("[^"]+"|\S+)\s+([|}][|o])(--|\.\.)([|o][|{])\s+("[^"]+"|\S+)\s*:\s*(.*)$`)
	})
	slice = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^"([^"]*)"\s*:\s*([0-9.]+)$`) })
)

// arrowOf draws how two classes relate.
func arrowOf(s string) string {
	line := "──"
	if strings.Contains(s, "..") {
		line = "┄┄"
	}
	for _, h := range heads {
		if strings.HasPrefix(s, h.from) {
			return h.drawnFrom + line
		}
		if strings.HasSuffix(s, h.to) {
			return line + h.drawnTo
		}
	}
	return line
}

// heads are what an arrow between classes begins or ends with, and how that is drawn.
var heads = []struct{ from, drawnFrom, to, drawnTo string }{
	{"<|", "◁", "|>", "▷"},
	{"*", "◆", "*", "◆"},
	{"o", "◇", "o", "◇"},
	{"<", "<", ">", "▶"},
}

// outline collects names with what belongs to them, and what relates them.
type outline struct {
	order   []string
	members map[string][]string
	related []string
	inside  string // whose members the lines are until the next closing brace
}

// within takes a line between the braces of a name; false says that it is outside of any.
func (o *outline) within(line string) bool {
	switch {
	case o.inside == "":
		return false
	case line == "}":
		o.inside = ""
	default:
		o.add(o.inside, label(line))
	}
	return true
}

func (o *outline) name(s string) {
	if _, known := o.members[s]; !known {
		o.order = append(o.order, s)
		o.members[s] = nil
	}
}

func (o *outline) add(name, member string) {
	o.name(name)
	if member != "" {
		o.members[name] = append(o.members[name], member)
	}
}

func (o *outline) lines() (out []string) {
	for _, n := range o.order {
		if len(o.members[n]) == 0 && len(o.related) > 0 {
			continue // it stands in a relation
		}
		out = append(out, n)
		for _, m := range o.members[n] {
			out = append(out, "  "+m)
		}
	}
	return append(out, o.related...)
}

// classes draws classes with their members, and how they relate.
func classes(_ string, lines []string) ([]string, bool) {
	o := &outline{members: map[string][]string{}}
	for _, l := range lines {
		s := strings.TrimSpace(l)
		word, rest, _ := strings.Cut(s, " ")
		switch m := relation().FindStringSubmatch(s); {
		case o.within(s):
		case word == "class":
			name, open, _ := strings.Cut(rest, "{")
			name, _, _ = strings.Cut(strings.TrimSpace(name), ":::")
			o.name(label(name))
			if strings.HasSuffix(rest, "{") {
				o.inside = label(name)
			} else if open != "" {
				o.add(label(name), label(strings.TrimSuffix(strings.TrimSpace(open), "}")))
			}
		case word == "direction" || word == "note" || word == "style" || word == "link" || word == "callback" || word == "namespace" || word == "classDef" || word == "cssClass" || s == "}" || strings.HasPrefix(s, "<<"):
		case m != nil:
			o.name(m[1])
			o.name(m[5])
			o.related = append(o.related, joined(m[1], m[2], arrowOf(m[3]), m[4], m[5])+colon(m[6]))
		default:
			name, member, ok := strings.Cut(s, ":")
			if !ok || strings.Contains(strings.TrimSpace(name), " ") {
				return nil, false
			}
			o.add(strings.TrimSpace(name), label(member))
		}
	}
	return o.lines(), true
}

func joined(parts ...string) string {
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

func colon(text string) string {
	if text = label(text); text != "" {
		return ": " + text
	}
	return ""
}

// entities draws tables with their columns, and how many of one belong to another.
func entities(_ string, lines []string) ([]string, bool) {
	o := &outline{members: map[string][]string{}}
	for _, l := range lines {
		s := strings.TrimSpace(l)
		switch m := relates().FindStringSubmatch(s); {
		case o.within(s):
		case m != nil:
			o.name(label(m[1]))
			o.name(label(m[5]))
			o.related = append(o.related, joined(label(m[1]), many(m[2]), "──", many(m[4]), label(m[5]))+colon(m[6]))
		case strings.HasSuffix(s, "{"):
			o.inside = label(strings.TrimSuffix(s, "{"))
			o.name(o.inside)
		case !strings.Contains(s, " "):
			o.name(s)
		default:
			return nil, false
		}
	}
	return o.lines(), true
}

// many says how many there may be.
func many(s string) string {
	switch s {
	case "||":
		return "1"
	case "|o", "o|":
		return "0..1"
	case "}o", "o{":
		return "0..n"
	}
	return "1..n"
}

// pie draws shares as bars.
func pie(rest string, lines []string) ([]string, bool) {
	var out, names []string
	var values []float64
	total, wide := 0.0, 0
	title := func(s string) {
		if t, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(s, "showData")), "title "); ok {
			out = append(out, label(t))
		}
	}
	title(rest)
	for _, l := range lines {
		s := strings.TrimSpace(l)
		m := slice().FindStringSubmatch(s)
		if m == nil {
			if title(s); strings.HasPrefix(s, "title ") || s == "showData" {
				continue
			}
			return nil, false
		}
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, false
		}
		names, values, total, wide = append(names, label(m[1])), append(values, v), total+v, max(wide, ansi.StringWidth(label(m[1])))
	}
	if total <= 0 {
		return nil, false
	}
	for i, n := range names {
		full := int(values[i]*20/total + .5)
		out = append(out, n+strings.Repeat(" ", wide-ansi.StringWidth(n))+"  "+strings.Repeat("█", full)+strings.Repeat("░", 20-full)+fmt.Sprintf(" %.0f %%", values[i]*100/total))
	}
	return out, true
}

// mindmap draws an outline, which it is already.
func mindmap(_ string, lines []string) (out []string, ok bool) {
	var margins []int
	for _, l := range lines {
		s := strings.TrimLeft(l, " ")
		if strings.HasPrefix(s, "::") {
			continue
		}
		margin := len(l) - len(s)
		for len(margins) > 0 && margins[len(margins)-1] >= margin {
			margins = margins[:len(margins)-1]
		}
		text := label(s)
		if _, inner, rest, ok := shaped(s); ok && inner != "" && strings.TrimSpace(rest) == "" {
			text = inner
		} else if opens, closes := closing(s); opens != "" && strings.HasSuffix(s, closes) {
			text = label(s[len(opens) : len(s)-len(closes)])
		}
		out = append(out, strings.Repeat("  ", min(len(margins), 20))+"• "+text)
		margins = append(margins, margin)
	}
	return out, true
}

// sections draws what stands below headings.
func sections(_ string, lines []string) (out []string, ok bool) {
	for _, l := range lines {
		s := strings.TrimSpace(l)
		word, rest, _ := strings.Cut(s, " ")
		switch word {
		case "title":
			out = append(out, label(rest))
		case "section":
			out = append(out, label(rest)+":")
		case "dateFormat", "axisFormat", "tickInterval", "excludes", "includes", "todayMarker", "weekday":
		default:
			what, when, _ := strings.Cut(s, ":")
			what, when = label(what), label(when)
			if what == "" && len(out) > 0 {
				what = "…"
			}
			if when != "" {
				what += ": " + when
			}
			out = append(out, "  "+what)
		}
	}
	return out, true
}
