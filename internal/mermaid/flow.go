package mermaid

import (
	"regexp"
	"strings"
	"sync"
)

// graph is what leads where, in the order in which it is written.
type graph struct {
	labels map[string]string
	order  []string
	edges  map[string][]edge
	into   map[string]bool
	groups []*group
	open   []*group
}

type edge struct{ to, text string }

type group struct {
	title string
	nodes []string
}

func newGraph() *graph {
	return &graph{labels: map[string]string{}, edges: map[string][]edge{}, into: map[string]bool{}}
}

// node notes a node, and what it is called where that is said.
func (g *graph) node(id, text string) {
	if _, known := g.labels[id]; !known {
		g.order = append(g.order, id)
		g.labels[id] = id
		if n := len(g.open); n > 0 {
			g.open[n-1].nodes = append(g.open[n-1].nodes, id)
		}
	}
	if text != "" {
		g.labels[id] = text
	}
}

func (g *graph) edge(from, to, text string) {
	g.edges[from] = append(g.edges[from], edge{to, text})
	if from != to {
		g.into[to] = true
	}
}

var (
	nodeStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*([\pL\pN_](?:[\pL\pN_.]|-[\pL\pN_])*)`) })
	link      = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*[<ox]?(?:-{2,}[>ox]|-{3,}|={2,}[>ox]|={3,}|-\.+->?|~{3,}|(?:--|==|-\.)\s*([^->=|.\s](?:[^>=|]*?[^->=|.\s])?)\s*(?:-{2,}[>ox]?|={2,}[>ox]?|-?\.+->?))(?:\s*\|([^|]*)\|)?\s*`)
	})
)

// closing returns what ends the shape that a text begins with.
func closing(s string) (opens, closes string) {
	for _, shape := range [...][2]string{{"(((", ")))"}, {"((", "))"}, {"([", "])"}, {"[[", "]]"}, {"[(", ")]"}, {"{{", "}}"}, {"[/", "]"}, {"[\\", "]"}, {"(", ")"}, {"[", "]"}, {"{", "}"}, {">", "]"}} {
		if strings.HasPrefix(s, shape[0]) {
			return shape[0], shape[1]
		}
	}
	return "", ""
}

// shaped reads a node: its name, and its text between brackets.
func shaped(s string) (id, text, rest string, ok bool) {
	m := nodeStart().FindStringSubmatch(s)
	if m == nil {
		return "", "", s, false
	}
	id, rest = m[1], s[len(m[0]):]
	if opens, closes := closing(rest); opens != "" {
		body := rest[len(opens):]
		from := 0
		if strings.HasPrefix(body, `"`) {
			if from = strings.Index(body[1:], `"`) + 1; from == 0 {
				return "", "", s, false
			}
		}
		end := strings.Index(body[from:], closes)
		if end < 0 {
			return "", "", s, false
		}
		text = label(strings.Trim(body[:from+end], `/\`))
		rest = body[from+end+len(closes):]
	}
	if after, found := strings.CutPrefix(rest, ":::"); found {
		rest = strings.TrimLeft(after, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
	}
	return id, text, rest, true
}

// nodes reads nodes that are joined by "&".
func (g *graph) nodes(s string) (ids []string, rest string, ok bool) {
	for {
		id, text, after, found := shaped(s)
		if !found {
			return nil, s, false
		}
		g.node(id, text)
		ids = append(ids, id)
		next, more := strings.CutPrefix(strings.TrimLeft(after, " "), "&")
		if !more {
			return ids, after, true
		}
		s = next
	}
}

func flowchart(rest string, lines []string) ([]string, bool) {
	g := newGraph()
	if i := strings.IndexByte(rest, ';'); i >= 0 {
		lines = append([]string{rest[i+1:]}, lines...)
	}
	for _, l := range lines {
		for s := range strings.SplitSeq(l, ";") {
			if !g.statement(strings.TrimSpace(s)) {
				return nil, false
			}
		}
	}
	return g.draw()
}

// statement reads one statement of a flowchart.
func (g *graph) statement(s string) bool {
	word, rest, _ := strings.Cut(s, " ")
	switch word {
	case "", "style", "classDef", "class", "linkStyle", "click", "direction":
		return true
	case "subgraph":
		id, text, _, ok := shaped(strings.Replace(rest, " [", "[", 1))
		if !ok || text == "" {
			text = label(rest)
		}
		if text == "" {
			text = id
		}
		in := &group{title: text}
		g.groups, g.open = append(g.groups, in), append(g.open, in)
		return true
	case "end":
		if n := len(g.open); n > 0 {
			g.open = g.open[:n-1]
		}
		return true
	}
	from, after, ok := g.nodes(s)
	for ok && strings.TrimSpace(after) != "" {
		m := link().FindStringSubmatch(after)
		if m == nil {
			return false
		}
		text := label(m[1] + m[2])
		var to []string
		if to, after, ok = g.nodes(after[len(m[0]):]); !ok {
			return false
		}
		for _, a := range from {
			for _, b := range to {
				g.edge(a, b, text)
			}
		}
		from = to
	}
	return ok
}

// draw returns an outline: below each node what it leads to.
func (g *graph) draw() ([]string, bool) {
	var out []string
	seen := map[string]bool{}
	for _, pass := range []bool{false, true} { // what nothing leads to comes first
		for _, id := range g.order {
			if !seen[id] && (pass || !g.into[id]) {
				out = append(out, g.labels[id])
				out = g.below(out, id, "", seen)
			}
		}
	}
	for _, in := range g.groups {
		var names []string
		for _, id := range in.nodes {
			names = append(names, g.labels[id])
		}
		out = append(out, "▢ "+in.title+": "+strings.Join(names, ", "))
	}
	return out, len(g.order) > 0
}

// below draws what a node leads to. A node that was drawn already is only named.
func (g *graph) below(out []string, id, margin string, seen map[string]bool) []string {
	seen[id] = true
	for i, e := range g.edges[id] {
		branch, more := "├─", "│  "
		if i == len(g.edges[id])-1 {
			branch, more = "└─", "   "
		}
		line := margin + branch
		if e.text != "" {
			line += " " + e.text + " ─"
		}
		line += "▶ " + g.labels[e.to]
		again := seen[e.to]
		if again && len(g.edges[e.to]) > 0 {
			line += " ↑"
		}
		if out = append(out, line); !again && len(out) <= maxDrawn && len(margin) < 120 {
			out = g.below(out, e.to, margin+more, seen)
		}
	}
	return out
}

var transition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\[\*\]|\S+)\s*-->\s*(\[\*\]|[^\s:]+)\s*(?::\s*(.*))?$`)
})

// states draws a diagram of states.
func states(_ string, lines []string) ([]string, bool) {
	g := newGraph()
	note := false
	for _, l := range lines {
		s := strings.TrimSpace(l)
		word, rest, _ := strings.Cut(s, " ")
		switch {
		case note:
			note = s != "end note"
		case word == "note":
			note = !strings.Contains(s, ":")
		case s == "}" || s == "--" || word == "direction" || word == "classDef" || word == "class" || word == "hide":
			if s == "}" && len(g.open) > 0 {
				g.open = g.open[:len(g.open)-1]
			}
		case word == "state":
			g.state(rest)
		default:
			if !g.transition(s) {
				return nil, false
			}
		}
	}
	return g.draw()
}

// state reads a state that is declared, with its description or with states of its own.
func (g *graph) state(rest string) {
	inner := strings.HasSuffix(rest, "{")
	rest = strings.TrimSpace(strings.TrimSuffix(rest, "{"))
	rest, _, _ = strings.Cut(rest, " <<")
	id, text := rest, rest
	if described, as, ok := strings.Cut(rest, " as "); ok {
		id, text = strings.TrimSpace(as), label(described)
	}
	g.node(id, text)
	if inner {
		in := &group{title: text}
		g.groups, g.open = append(g.groups, in), append(g.open, in)
	}
}

func (g *graph) transition(s string) bool {
	if m := transition().FindStringSubmatch(s); m != nil {
		from, to := m[1], m[2]
		if from == "[*]" {
			from = "●"
		}
		if to == "[*]" {
			to = "◉"
		}
		g.node(from, "")
		g.node(to, "")
		g.edge(from, to, label(m[3]))
		return true
	}
	id, text, ok := strings.Cut(s, ":")
	if id = strings.TrimSpace(id); id == "" || strings.Contains(id, " ") {
		return false
	}
	if ok {
		text = id + ": " + label(text)
	}
	g.node(id, text)
	return true
}
