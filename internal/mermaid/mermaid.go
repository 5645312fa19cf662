// Package mermaid turns the diagrams that models write in Mermaid's language into lines of text
// that still make sense: a flowchart into an outline of what leads where, a sequence into who
// says what to whom. What it does not know it leaves to the caller, who shows the source.
package mermaid

import (
	"regexp"
	"strings"
	"sync"
)

// What is read and drawn is bounded.
const (
	maxSource = 1000 // lines
	maxLine   = 2000 // bytes
	maxDrawn  = 400  // lines
)

// Lines returns a diagram as lines of text, in ASCII if asked for. It reports whether the
// diagram was understood.
func Lines(src []string, ascii bool) ([]string, bool) {
	lines, ok := statements(src)
	if !ok || len(lines) == 0 {
		return nil, false
	}
	kind, rest, _ := strings.Cut(strings.TrimSpace(lines[0]), " ")
	kind, _, _ = strings.Cut(strings.TrimSuffix(kind, ";"), ";")
	draw := drawerOf(kind)
	if draw == nil {
		return nil, false
	}
	out, ok := draw(strings.TrimSpace(rest), lines[1:])
	if !ok || len(out) == 0 || len(out) > maxDrawn {
		return nil, false
	}
	for i, l := range out {
		if out[i] = strings.TrimRight(l, " "); ascii {
			out[i] = inASCII().Replace(out[i])
		}
	}
	return out, true
}

// drawer draws a diagram from what stands after its kind, and the lines below.
type drawer func(rest string, lines []string) ([]string, bool)

func drawerOf(kind string) drawer {
	switch kind {
	case "graph", "flowchart":
		return flowchart
	case "stateDiagram", "stateDiagram-v2":
		return states
	case "sequenceDiagram":
		return sequence
	case "classDiagram", "classDiagram-v2":
		return classes
	case "erDiagram":
		return entities
	case "pie":
		return pie
	case "mindmap":
		return mindmap
	case "gantt", "timeline", "journey":
		return sections
	}
	return nil
}

// statements returns the lines that say something: without comments, settings and front matter.
func statements(src []string) (out []string, ok bool) {
	if len(src) > maxSource {
		return nil, false
	}
	front := false
	for i, l := range src {
		text := strings.TrimSpace(l)
		if text == "---" && (front || len(out) == 0 && i == 0) {
			front = !front
			continue
		}
		if text == "" || front || strings.HasPrefix(text, "%%") {
			continue
		}
		if len(l) > maxLine {
			return nil, false
		}
		out = append(out, strings.ReplaceAll(l, "\t", "    "))
	}
	return out, !front
}

var (
	breaks  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\s*<br\s*/?>\s*|\\n`) })
	tags    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?[a-zA-Z][a-zA-Z0-9]*>`) })
	inASCII = sync.OnceValue(func() *strings.Replacer {
		return strings.NewReplacer("├─", "+-", "└─", "`-", "│", "|", "─▶", "->", "▶", ">", "─", "-", "→", "->", "⇢", "-->", "↔", "<->", "●", "(start)", "◉", "(end)", "↑", "^", "◁", "<|", "▷", "|>",
			"◆", "*", "◇", "o", "█", "#", "░", ".", "▢", "[]", "•", "*", "┄", ".", "×", "x", "…", "...")
	})
)

// label cleans a text that stands in a diagram.
func label(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	s = breaks().ReplaceAllString(s, " / ")
	s = tags().ReplaceAllString(s, "")
	s = strings.NewReplacer("#quot;", `"`, "&quot;", `"`, "#35;", "#", "&lt;", "<", "&gt;", ">", "&amp;", "&", "`", "").Replace(s)
	return strings.Join(strings.Fields(s), " ")
}
