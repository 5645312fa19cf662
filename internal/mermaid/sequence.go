package mermaid

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

var (
	message = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.+?)\s*(<<-->>|<<->>|-->>|->>|-->|->|--x|-x|--\)|-\))\s*[+-]?\s*(.+?)\s*:\s*(.*)$`)
	})
	noted = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^note\s+(?:over|left of|right of)\s+([^:]+):\s*(.*)$`)
	})
)

// talk is what is known of a sequence so far.
type talk struct {
	names    map[string]string
	depth    int
	number   int // of the last message; -1: they have none
	out      []string
	unclosed int
}

// sequence draws who says what to whom.
func sequence(_ string, lines []string) ([]string, bool) {
	t := &talk{names: map[string]string{}, number: -1}
	for _, l := range lines {
		if !t.statement(strings.TrimSpace(l)) {
			return nil, false
		}
	}
	return t.out, true
}

func (t *talk) add(text string) {
	t.out = append(t.out, strings.Repeat("  ", min(t.depth, 20))+text)
}

func (t *talk) name(id string) string {
	id = strings.TrimSpace(id)
	if n := t.names[id]; n != "" {
		return n
	}
	return label(id)
}

// statement reads a line of a sequence.
func (t *talk) statement(s string) bool {
	word, rest, _ := strings.Cut(s, " ")
	switch word {
	case "participant", "actor", "create":
		t.declare(strings.TrimPrefix(strings.TrimPrefix(rest, "participant "), "actor "))
		return true
	case "activate", "deactivate", "destroy", "link", "links", "properties", "title", "title:", "box":
		if word == "box" {
			t.unclosed++
		}
		return true
	case "autonumber":
		t.number = 0
		return true
	case "loop", "alt", "opt", "par", "critical", "break", "rect":
		if word == "rect" {
			rest = ""
		}
		t.add(strings.TrimSpace(word + " " + label(rest)))
		t.depth++
		return true
	case "else", "and", "option":
		t.depth = max(0, t.depth-1)
		t.add(strings.TrimSpace(word + " " + label(rest)))
		t.depth++
		return true
	case "end":
		if t.unclosed > 0 && t.depth == 0 {
			t.unclosed--
			return true
		}
		t.depth = max(0, t.depth-1)
		return true
	}
	return t.said(s)
}

func (t *talk) declare(rest string) {
	id, text, ok := strings.Cut(rest, " as ")
	if !ok {
		text = id
	}
	t.names[strings.TrimSpace(id)] = label(text)
}

// said reads a message or a note.
func (t *talk) said(s string) bool {
	if m := noted().FindStringSubmatch(s); m != nil {
		var who []string
		for id := range strings.SplitSeq(m[1], ",") {
			who = append(who, t.name(id))
		}
		t.add("[" + strings.Join(who, ", ") + ": " + label(m[2]) + "]")
		return true
	}
	m := message().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	arrow := "→"
	switch {
	case strings.HasPrefix(m[2], "<<"):
		arrow = "↔"
	case strings.HasPrefix(m[2], "--"):
		arrow = "⇢"
	}
	if strings.HasSuffix(m[2], "x") {
		arrow += "×"
	}
	text := t.name(m[1]) + " " + arrow + " " + t.name(m[3]) + ": " + label(m[4])
	if t.number >= 0 {
		t.number++
		text = fmt.Sprintf("%d. %s", t.number, text)
	}
	t.add(text)
	return true
}
